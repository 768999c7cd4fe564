"use strict";
const read = (id) => JSON.parse(document.getElementById(id).textContent);

const {themes, formulas, signs} = read("settings");

function safe(cell) { // a text that no spreadsheet takes for a formula, where that is wanted; numbers stay
  return typeof cell === "string" && formulas.some((sign) => cell.startsWith(sign)) ? `'${cell}` : cell;
}

function save(name, lines) {
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const text = lines.map((cells) => cells.map((cell) => quoted(String(cell ?? ""))).join(",")).join("\n");
  const url = URL.createObjectURL(new Blob([text + "\n"], {type: "text/csv;charset=utf-8"}));
  made("a", {href: url, download: `${name}.csv`}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function latex(table, rows) { // a tabular for the package booktabs, of what is shown
  const headings = [...table.tHead.rows[0].cells], isNumber = headings.map((one) => one.classList.contains("n"));
  const escaped = (text) => [...text.trim()].map((sign) => signs[sign] ?? sign).join("");
  const shown = (cell, column) => {
    const cluster = cell.querySelector("small")?.textContent.replace(/[()]/g, "");
    const text = [...cell.childNodes].filter((one) => one.nodeName !== "SMALL").map((one) => one.textContent).join("").trim();
    if (text === "" || text === "-") return "--";
    const number = /^[-<]/.test(text) ? `$${text}$` : escaped(text);
    const found = isNumber[column] ? number : escaped(text);
    return (cell.classList.contains("best") ? `\\textbf{${found}}` : found) + (cluster ? `$^{${cluster}}$` : "");
  };
  const line = (cells) => `${cells.join(" & ")} \\\\`;
  const lines = rows.map((row) => line([...row.cells].map(shown)));
  const places = isNumber.map((one) => (one ? "r" : "l")).join("");
  const head = line(headings.map((one) => escaped(one.textContent)));
  return [`\\begin{tabular}{${places}}`, "\\toprule", head, "\\midrule", ...lines, "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

async function copied(text) { // where a page from a file may not write to the clipboard, its selection is copied
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = made("textarea", {value: text});
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function fileName(text) {
  return text.replace(/[^\p{L}\p{N}]+/gu, "_").slice(0, 60) || "data";
}

// ------------------------------------------------------------------ tables

function prepareTable(box) {
  const table = box.querySelector("table");
  const headings = [...table.tHead.rows[0].cells];
  const title = table.caption.textContent;
  const names = headings.map((heading) => heading.textContent);
  sortable(table);
  box.prepend(...filters(table));
  const button = made("button", {type: "button", textContent: "CSV"});
  button.setAttribute("aria-label", `CSV: ${title}`);
  button.addEventListener("click", () => {
    const isNumber = headings.map((heading) => heading.classList.contains("n"));
    const cells = (row) => [...row.cells].map((cell, column) => (isNumber[column] ? raw(cell) : safe(raw(cell))));
    const lines = [...table.tBodies[0].rows].filter((row) => !row.hidden).map(cells);
    save(fileName(title), [names.map(safe), ...lines]);
  });
  const copy = made("button", {type: "button", textContent: "Copy as LaTeX"});
  copy.setAttribute("aria-label", `Copy as LaTeX: ${title}`);
  copy.addEventListener("click", async () => {
    await copied(latex(table, [...table.tBodies[0].rows].filter((row) => !row.hidden)));
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy as LaTeX"; }, 2000);
  });
  box.querySelector(".offer").append(button, copy);
}

// ------------------------------------------------------------------ charts

const ERRORS = 1; // what Vega writes to the console
const screenIsDark = window.matchMedia("(prefers-color-scheme: dark)");
const paper = window.matchMedia("print");

function unpacked(spec) {
  const datasets = {};
  for (const [name, {columns, rows}] of Object.entries(spec.datasets)) {
    datasets[name] = rows.map((row) => Object.fromEntries(columns.map((column, place) => [column, row[place]])));
  }
  return {...spec, datasets};
}

function prepareChart(element, spec) {
  const figure = element.closest("figure");
  const offer = figure.querySelector(".offer");
  const title = figure.querySelector("strong").textContent;
  for (const [name, {columns, rows}] of Object.entries(spec.datasets)) {
    if (!rows.length || !columns.length) continue;
    const words = name.replaceAll("_", " ");
    const button = made("button", {type: "button", textContent: `CSV: ${words}`});
    button.setAttribute("aria-label", `CSV: ${words} of ${title}`);
    const lines = [columns, ...rows].map((cells) => cells.map(safe));
    button.addEventListener("click", () => save(fileName(`${title} ${name}`), lines));
    offer.append(button);
  }
}

async function drawAll(elements, charts, isPrinted) { // those that are not folded, and not drawn so yet
  const theme = screenIsDark.matches && !isPrinted ? "dark" : "light";
  document.documentElement.dataset.drawn = "";
  for (const element of elements) {
    if (element.closest("details:not([open])")) continue;
    const room = isPrinted ? PAPER : element.clientWidth, drawn = `${theme} ${room}`;
    if (element.dataset.drawn === drawn) continue;
    element.dataset.drawn = drawn;
    const spec = {...unpacked(charts[element.dataset.chart]), config: themes[theme]};
    const options = {mode: "vega-lite", renderer: "svg", actions: false, logLevel: ERRORS, tooltip: {theme}};
    await fitted(element, spec, options, room).catch(console.error);
    element.querySelector("svg")?.setAttribute("aria-hidden", "true"); // the chart has its name on its box
  }
  document.documentElement.dataset.drawn = theme;
}

function prepareFolds() { // on a narrow screen sections behind the rankings are folded
  const folds = [...document.querySelectorAll("details")], sections = [...document.querySelectorAll("details.section")];
  if (window.matchMedia("(max-width: 40rem)").matches) sections.slice(2).forEach((fold) => { fold.open = false; });
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    const fold = target?.querySelector("details.section");
    if (fold) fold.open = true;
    target?.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details.section, details.printed").forEach((fold) => { fold.open = true; });
  });
  const button = made("button", {type: "button", textContent: "Open all"});
  button.addEventListener("click", () => {
    const isOpen = button.textContent === "Open all";
    folds.forEach((fold) => { fold.open = isOpen; });
    button.textContent = isOpen ? "Fold all" : "Open all";
  });
  const item = made("li");
  item.append(button);
  document.querySelector("nav ul").append(item);
}

prepareFolds();
document.querySelectorAll(".table").forEach(prepareTable);
const elements = [...document.querySelectorAll("[data-chart]")];
if (elements.length) {
  const charts = read("charts");
  elements.forEach((element) => prepareChart(element, charts[element.dataset.chart]));
  let drawing = drawAll(elements, charts, paper.matches);
  let isPrinted = false;
  const again = ({type}) => {
    if (type.endsWith("print")) isPrinted = type === "beforeprint";
    drawing = drawing.then(() => drawAll(elements, charts, isPrinted || paper.matches));
  };
  document.addEventListener("toggle", again, {capture: true});
  for (const media of [screenIsDark, paper]) media.addEventListener("change", again);
  for (const type of ["beforeprint", "afterprint"]) window.addEventListener(type, again);
} else {
  document.documentElement.dataset.drawn = "none";
}
