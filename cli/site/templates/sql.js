"use strict";
{
  const form = document.getElementById("query"), text = document.getElementById("text");
  const state = document.getElementById("state"), answer = document.getElementById("answer");
  const MOST_ROWS = 1000, FILE = "warehouse.duckdb", BUFFER = "answer.csv", READ_ONLY = 2;
  const absolute = (path) => new URL(path, document.baseURI).href;

  // The worker speaks in messages; those of the answers carry the number of the question.
  class Engine {
    constructor() {
      // As a blob it has this page's policy, so that it reaches no other host.
      const source = `importScripts(${JSON.stringify(absolute(`${form.dataset.engine}duckdb-browser-eh.worker.js`))});`;
      this.worker = new Worker(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
      this.waiting = new Map();
      this.number = 0;
      this.worker.onmessage = ({data}) => {
        const one = this.waiting.get(data.requestId);
        if (!one || data.type === "INSTANTIATE_PROGRESS") return;
        this.waiting.delete(data.requestId);
        if (data.type === "ERROR") one.reject(new Error(data.data.message));
        else one.resolve(data.data);
      };
      this.worker.onerror = (event) => {
        for (const one of this.waiting.values()) one.reject(new Error(event.message || "the engine does not start"));
        this.waiting.clear();
      };
    }

    ask(type, data, transfer = []) {
      const messageId = ++this.number;
      return new Promise((resolve, reject) => {
        this.waiting.set(messageId, {resolve, reject});
        this.worker.postMessage({messageId, type, data}, transfer);
      });
    }

    async open() {
      const started = this.ask("INSTANTIATE", [absolute(`${form.dataset.engine}duckdb-eh.wasm`), null]);
      const bytes = await download(JSON.parse(form.dataset.parts), Number(form.dataset.bytes));
      await started;
      await this.ask("REGISTER_FILE_BUFFER", [FILE, bytes], [bytes.buffer]);
      await this.ask("OPEN", {path: FILE, accessMode: READ_ONLY});
      this.connection = await this.ask("CONNECT", null);
      for (const name of ["autoinstall_known_extensions", "autoload_known_extensions"]) {
        await this.run(`SET ${name} = false`);
      }
    }

    run(query) {
      return this.ask("RUN_QUERY", [this.connection, query]);
    }

    async rows(query) {
      await this.run(`COPY (${query}) TO '${BUFFER}' (FORMAT csv, HEADER, FORCE_QUOTE *)`);
      const bytes = await this.ask("COPY_FILE_TO_BUFFER", BUFFER);
      await this.ask("DROP_FILE", BUFFER);
      return parsed(new TextDecoder().decode(bytes));
    }
  }

  // The parts are one gzip file; a server that unpacks such files itself is understood as well.
  async function download(parts, size) {
    const answers = await Promise.all(parts.map((part) => fetch(part)));
    answers.forEach((found, place) => { if (!found.ok) throw new Error(`${parts[place]}: ${found.status}`); });
    async function* blocks() {
      for (const found of answers) {
        const reader = found.body.getReader();
        for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
      }
    }
    const packed = blocks();
    const {value: first} = await packed.next();
    let stream = new ReadableStream({
      start(controller) { controller.enqueue(first); },
      async pull(controller) {
        const {value, done} = await packed.next();
        if (done) controller.close(); else controller.enqueue(value);
      },
    });
    if (first[0] === 0x1f && first[1] === 0x8b) stream = stream.pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(size), reader = stream.getReader();
    let n = 0, shown = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      bytes.set(next.value, n);
      n += next.value.length;
      if (n - shown > 4e6) state.textContent = `Loading scores: ${Math.round((shown = n) / size * 100)}%`;
    }
    if (n !== size) throw new Error(`the warehouse has ${n} bytes, expected ${size}`);
    return bytes;
  }

  function parsed(csv) { // every value is quoted, a missing one is empty
    const rows = [];
    let row = [], at = 0;
    while (at < csv.length) {
      let value = null;
      if (csv[at] === '"') {
        let end = csv.indexOf('"', at + 1);
        while (csv[end + 1] === '"') end = csv.indexOf('"', end + 2);
        value = csv.slice(at + 1, end).replaceAll('""', '"');
        at = end + 1;
      } else {
        let end = at;
        while (end < csv.length && csv[end] !== "," && csv[end] !== "\n") end += 1;
        if (end > at) value = csv.slice(at, end);
        at = end;
      }
      row.push(value);
      if (csv[at] === "\n" || at >= csv.length) { rows.push(row); row = []; }
      at += 1;
    }
    return rows;
  }

  const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)?(INT|INTEGER)|FLOAT|DOUBLE|DECIMAL.*)$/;
  let engine = null, last = [];

  async function ask() {
    const query = text.value.trim().replace(/;\s*$/, "");
    if (!query) return;
    const begun = performance.now();
    state.textContent = "Loading the engine";
    document.body.dataset.state = "busy";
    try {
      engine ??= new Engine();
      await (engine.ready ??= engine.open());
      state.textContent = "Running";
      const isPlain = /^(describe|show|summarize|explain|pragma)\b/i.test(query);
      const inner = isPlain ? `FROM (${query}\n)` : query;
      const columns = (await engine.rows(`SELECT column_name, column_type FROM (DESCRIBE ${inner}\n)`)).slice(1);
      const [head, types] = [0, 1].map((place) => columns.map((column) => column[place]));
      const [, ...rows] = await engine.rows(`SELECT * FROM (${inner}\n) LIMIT ${MOST_ROWS + 1}`);
      show(head, rows.slice(0, MOST_ROWS), types);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      const n = rows.length > MOST_ROWS ? `the first ${MOST_ROWS} rows` : rowsText(rows.length);
      state.textContent = `${n}, ${seconds} s`;
      document.body.dataset.state = "done";
    } catch (error) {
      state.textContent = String(error.message).split("\n\n")[0];
      document.body.dataset.state = "failed";
      if (engine && !engine.connection) engine = null;
    }
  }

  function show(head, rows, types) {
    last = [head, ...rows];
    const isNumber = types.map((type) => NUMBERS.test(type));
    const table = made("table", {},
      made("thead", {}, made("tr", {}, ...head.map((name, place) =>
        made("th", {scope: "col", textContent: name, className: isNumber[place] ? "n" : ""})))),
      made("tbody", {}, ...rows.map((row) => made("tr", {}, ...row.map((value, place) => {
        const cell = made("td", {textContent: value ?? "-", className: isNumber[place] ? "n" : ""});
        cell.dataset.value = value ?? "";
        return cell;
      })))));
    answer.querySelector("table").replaceWith(table);
    sortable(table);
    answer.hidden = false;
  }

  document.getElementById("save").addEventListener("click", () => {
    const quoted = (cell) => (cell === null ? "" : /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
    const lines = last.map((cells) => cells.map(quoted).join(",") + "\n").join("");
    const url = URL.createObjectURL(new Blob([lines], {type: "text/csv"}));
    made("a", {href: url, download: "answer.csv"}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); ask(); }
  });
  document.querySelectorAll("[data-query]").forEach((button) => button.addEventListener("click", () => {
    text.value = button.dataset.query;
    text.scrollIntoView({block: "center"});
    ask();
  }));
  const given = () => { if (location.hash.length > 1 && !document.getElementById(location.hash.slice(1))) text.value = decodeURIComponent(location.hash.slice(1)); };
  given();
  window.addEventListener("hashchange", given);
}
