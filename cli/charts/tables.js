// Tables of pages: sorted by a click on a heading, filtered by words.
const made = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const raw = (cell) => cell.dataset.value ?? cell.textContent;

function order(table, column, direction) {
  const isNumber = table.tHead.rows[0].cells[column].classList.contains("n");
  const key = (row) => {
    const text = raw(row.cells[column]);
    return isNumber ? (text === "" || text === "-" ? NaN : Number(text)) : text;
  };
  const compare = (a, b) => {
    if (!isNumber) return direction * a.localeCompare(b, "en", {numeric: true});
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // missing ones last
    return direction * (a - b);
  };
  const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
  rows.sort((a, b) => compare(a[0], b[0]));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function sortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = made("button", {type: "button", textContent: heading.textContent});
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      headings.forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      order(table, column, direction);
    });
  });
}

const rowsText = (n) => (n === 1 ? "1 row" : `${n} rows`);

function filters(table) { // a field for words, above a table that is not short
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= 5) return [];
  const count = made("output", {textContent: rowsText(rows.length)});
  const input = made("input", {type: "search", placeholder: "words in a row"});
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      n += row.hidden ? 0 : 1;
    }
    count.textContent = n === rows.length ? rowsText(n) : `${n} of ${rowsText(rows.length)}`;
  });
  return [made("div", {className: "tools"}, made("label", {}, "Filter: ", input), count)];
}

