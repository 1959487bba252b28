"use strict";
(() => {
  // Sorting by data-sort: numbers, largest first, or texts; empty cells last; a second press turns the order round.
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.sort === undefined) return cell.textContent.trim();
    if (cell.dataset.sort === "") return null;
    const number = Number(cell.dataset.sort);
    return Number.isNaN(number) ? cell.dataset.sort : number;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const sort = (heading) => {
    const table = heading.closest("table");
    const body = table.tBodies[0];
    const column = heading.cellIndex;
    const rows = [...body.rows];
    const textual = rows.some((row) => typeof key(row, column) === "string");
    const first = textual ? "ascending" : "descending";
    const last = textual ? "descending" : "ascending";
    const order = heading.ariaSort === first ? last : first;
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [key(a, column), key(b, column)];
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * compare(x, y);
    });
    for (const other of table.querySelectorAll("th[aria-sort]")) other.ariaSort = "none";
    heading.ariaSort = order;
    body.append(...rows);
  };
  for (const button of document.querySelectorAll("table.sortable thead button"))
    button.addEventListener("click", () => sort(button.closest("th")));
})();
(() => {
  // Colours: as the system has them, light, dark; remembered where the browser allows it.
  const themes = ["", "light", "dark"];
  const names = { "": "as the system has them", light: "light", dark: "dark" };
  const theme = document.getElementById("theme");
  const remembered = () => {
    try {
      return localStorage.getItem("irpretrain-theme") || "";
    } catch {
      return "";
    }
  };
  const setTheme = (name) => {
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    theme.ariaLabel = theme.title = `Colours: ${names[name]}`;
    theme.textContent = { "": "◐", light: "☀", dark: "☾" }[name];
  };
  let chosen = themes.includes(remembered()) ? remembered() : "";
  setTheme(chosen);
  theme.addEventListener("click", () => {
    chosen = themes[(themes.indexOf(chosen) + 1) % themes.length];
    setTheme(chosen);
    try {
      localStorage.setItem("irpretrain-theme", chosen);
    } catch {
      // Private windows may refuse; the choice then lasts as long as the page.
    }
  });
})();
(() => {
  // Paper has no folds to press: all are open in print.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
})();
(() => {
  const data = JSON.parse(document.getElementById("provenance").textContent);

  // Provenance: everything is put in as text, never as markup.
  const element = (name, text, parent) => {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const facts = (pairs, parent) => {
    const list = element("dl", null, parent);
    for (const [name, value] of pairs) {
      element("dt", name, list);
      element("dd", value, list);
    }
  };
  const files = (title, entries, parent) => {
    if (!entries.length) return;
    element("h3", title, parent);
    const list = element("ul", null, parent);
    for (const [path, digest] of entries) {
      const item = element("li", null, list);
      element("code", path, item);
      item.append(" ");
      element("code", digest ? `sha256 ${digest.slice(0, 16)}…` : "", item).title = digest || "";
    }
  };
  const showRecord = (number, parent, open) => {
    const record = data.records[number];
    const block = element("details", null, parent);
    block.open = open;
    const path = record.outputs.length ? record.outputs[0][0] : record.sidecar;
    element("summary", `${record.stage.replaceAll("_", " ")}: ${path}`, block);
    const environment = data.environments[record.environment];
    const cost = record.cost;
    facts(
      [
        ["Seed", record.seed ?? "none of its own"],
        ["Parameters' hash", record.hash],
        ["Cost", `${cost.wall_seconds ?? "?"} s wall, ${cost.cpu_seconds ?? "?"} s CPU, ${cost.peak_memory_mb ?? "?"} MB at most`],
        ["Commit", typeof environment.commit === "string" ? environment.commit : "unknown"],
        ["Counts", Object.keys(record.counts).length ? JSON.stringify(record.counts) : "none"],
        ["Hardware", Object.values(environment.hardware).join(", ")],
        ["Versions", Object.entries(environment.versions).map((pair) => pair.join(" ")).join(", ")],
        ["Sidecar", record.sidecar],
      ],
      block,
    );
    files("Outputs", record.outputs, block);
    files("Inputs", record.inputs, block);
  };
  const lineage = (numbers) => {
    const found = [];
    const seen = new Set(numbers);
    const waiting = [...numbers];
    while (waiting.length)
      for (const source of data.records[waiting.shift()].sources)
        if (!seen.has(source)) {
          seen.add(source);
          found.push(source);
          waiting.push(source);
        }
    return found;
  };
  const dialog = document.getElementById("provenance-dialog");
  const body = document.getElementById("provenance-body");
  const show = (cell) => {
    body.replaceChildren();
    facts(cell.facts, body);
    if (!cell.runs.length) element("p", "No sidecar of this run was given to the report.", body);
    if (cell.runs.length) element("h3", "The run", body);
    cell.runs.forEach((number, position) => showRecord(number, body, position === 0));
    const earlier = lineage(cell.runs);
    if (earlier.length) element("h3", "What it was made from, nearest first", body);
    for (const number of earlier) showRecord(number, body, false);
    if (data.left_out) element("p", "To keep this page small it leaves out inputs; the sidecars hold them.", body);
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  for (const button of document.querySelectorAll("button.ours"))
    button.addEventListener("click", () => show(data.cells[Number(button.dataset.cell)]));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
})();
