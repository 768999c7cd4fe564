const root = document.body.dataset.root;

document.querySelectorAll("section.table").forEach((section) => {
  const table = section.querySelector("table");
  sortable(table);
  section.querySelector(".scroll").before(...filters(table));
});

// ------------------------------------------------------------------ search

const MOST_FOUND = 12;

function prepareSearch() {
  const input = made("input", {type: "search", placeholder: "metric, system or language pair"});
  input.setAttribute("aria-label", "Search");
  const list = made("ul");
  list.setAttribute("aria-label", "Found");
  let index = null;
  const show = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    index ??= fetch(`${root}search.json`).then((answer) => answer.json());
    const all = await index;
    const fits = ([kind, name]) => words.every((word) => `${name} ${kind}`.toLowerCase().includes(word));
    const start = (name) => (name.toLowerCase().startsWith(words[0]) ? 0 : 1);
    const found = words.length ? all.filter(fits) : [];
    found.sort((a, b) => start(a[1]) - start(b[1]) || a[1].length - b[1].length);
    list.replaceChildren(...found.slice(0, MOST_FOUND).map(([kind, name, path]) =>
      made("li", {}, made("a", {href: root + path}, name, " ", made("small", {textContent: kind})))));
  };
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { input.value = ""; list.replaceChildren(); }
    if (event.key === "ArrowDown") { list.querySelector("a")?.focus(); event.preventDefault(); }
    if (event.key === "Enter") list.querySelector("a")?.click();
  });
  document.querySelector("header").append(made("div", {className: "search"}, input, list));
}
prepareSearch();

// ------------------------------------------------------------------ two metrics

async function preparePairs(section) {
  const measures = await (await fetch(section.dataset.pairs)).json();
  const names = [...new Set(Object.values(measures).flatMap((one) => one.metrics))];
  if (names.length < 2) return;
  const chosen = ["First", "Second"].map((word, place) => {
    const select = made("select", {}, ...names.map((name) => made("option", {value: name, textContent: name})));
    select.value = names[place];
    section.querySelector(".tools").append(made("label", {}, `${word}: `, select));
    select.addEventListener("change", show);
    return select;
  });
  const table = section.querySelector("table");
  function show() {
    const [a, b] = chosen.map((one) => one.value);
    const head = ["measure", a, b, "difference", "p", "clusters", "test"];
    const rows = Object.entries(measures).map(([measure, one]) => {
      const [i, j] = [one.metrics.indexOf(a), one.metrics.indexOf(b)];
      if (i < 0 || j < 0) return [measure, "-", "-", "-", "-", "-", "-"];
      const [low, high] = i < j ? [i, j] : [j, i], n = one.metrics.length;
      const p = i === j ? null : one.p[low * n - (low * (low + 1)) / 2 + high - low - 1];
      const number = (value) => (value === null ? "-" : value.toFixed(3));
      const [x, y] = [one.values[i], one.values[j]];
      const verdict = p === null ? "" : p <= one.alpha ? " (significant)" : " (not significant)";
      return [measure, number(x), number(y), x === null || y === null ? "-" : number(x - y),
        p === null ? "-" : p.toFixed(4) + verdict, `${one.clusters[i]} and ${one.clusters[j]}`, `${one.test}: ${one.about}`];
    });
    table.replaceChildren(
      made("thead", {}, made("tr", {}, ...head.map((text) => made("th", {scope: "col", textContent: text})))),
      made("tbody", {}, ...rows.map((cells) => made("tr", {}, ...cells.map((text) => made("td", {textContent: text}))))),
    );
  }
  show();
  section.hidden = false;
}
document.querySelectorAll("[data-pairs]").forEach((section) => preparePairs(section).catch(console.error));
