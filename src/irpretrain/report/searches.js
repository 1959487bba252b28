"use strict";
(() => {
  // The searches: a list of queries by the difference of two rows, and what each row finds for one of them. All texts are
  // put in as text, never as markup.
  const data = JSON.parse(document.getElementById("searches-data").textContent);
  const find = (name) => document.getElementById(`searches-${name}`);
  const [setChoice, left, right, order, filter] = ["set", "left", "right", "order", "filter"].map(find);
  const [summary, list, query, table, whole] = ["summary", "list", "query", "table", "whole"].map(find);
  const make = (name, text, parent, className) => {
    const made = document.createElement(name);
    if (text !== "") made.textContent = text;
    if (className) made.className = className;
    parent?.append(made);
    return made;
  };
  const signed = (value) => (Math.abs(value) < 0.0005 ? "0.000" : (value > 0 ? "+" : "−") + Math.abs(value).toFixed(3));
  const counted = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun[0] : noun[1]}`;
  const option = (choice, value, text) => (make("option", text, choice).value = value);
  // Data set, query, and the two rows whose difference sorts the queries.
  const address = (number) =>
    `#${[set.key, set.queries[number].id, set.rows[left.value].key, set.rows[right.value].key].map(encodeURIComponent).join("/")}`;
  let set, selected;

  const outcomes = (a, b) => {
    const [, , wins, ties, losses] = set.outcomes.find(([i, j]) => i === Math.min(a, b) && j === Math.max(a, b)) ?? [0, 0, 0, set.judged, 0];
    return a <= b ? [wins, ties, losses] : [losses, ties, wins];
  };
  const difference = (number) => set.rows[left.value].values[number] - set.rows[right.value].values[number];
  const orders = {
    gains: (a, b) => difference(b) - difference(a),
    losses: (a, b) => difference(a) - difference(b),
    size: (a, b) => Math.abs(difference(b)) - Math.abs(difference(a)),
    name: () => 0,
  };
  const byName = (a, b) => set.queries[a].id.localeCompare(set.queries[b].id, "en", { numeric: true });

  const showList = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const numbers = [...set.queries.keys()].filter((number) => {
      const { id, text } = set.queries[number];
      return words.every((word) => `${id} ${text}`.toLowerCase().includes(word));
    });
    numbers.sort((a, b) => orders[order.value](a, b) || byName(a, b));
    list.replaceChildren();
    for (const number of numbers) {
      const item = make("li", "", list);
      item.id = `searches-query-${number}`;
      item.role = "option";
      const sign = Math.sign(Math.round(difference(number) * 1000));
      make("b", signed(difference(number)), item, sign > 0 ? "gain" : sign < 0 ? "loss" : "");
      make("bdi", set.queries[number].text, item);
    }
    list.tabIndex = numbers.length ? 0 : -1;
    const [a, b] = [Number(left.value), Number(right.value)];
    const [wins, ties, losses] = outcomes(a, b);
    const baseline = Object.values(set.rows[a].baselines).find(([other]) => other === b);
    summary.textContent =
      `${set.rows[a].label} minus ${set.rows[b].label}, ${set.measure}: ${counted(wins, ["win", "wins"])}, ` +
      `${counted(ties, ["tie", "ties"])}, ${counted(losses, ["loss", "losses"])} in ` +
      `${counted(set.judged, ["query", "queries"])}, mean ${baseline ? baseline[1] : signed(set.rows[a].mean - set.rows[b].mean)}. ` +
      `Listed: ${numbers.length}.`;
    return numbers;
  };

  // Where the most words of the query stand within the few lines that are shown of a text; 0 for its beginning.
  const SHOWN = 250;
  const densest = (marks) => {
    const starts = marks.filter((_, i) => i % 2 === 0);
    const within = (start) => starts.filter((other) => other >= start && other < start + SHOWN).length;
    return starts.reduce((best, start) => (within(start) > within(best) ? start : best), 0);
  };
  const showText = (number, marks, parent) => {
    const [, text, length] = data.documents[number];
    const body = make("p", "", parent, "found-text");
    body.dir = "auto";
    // What stands before is shown with whole texts alone.
    const first = densest(marks);
    const start = first > SHOWN / 2 ? text.lastIndexOf(" ", first - 40) + 1 : 0;
    let into = body;
    if (start > 0) {
      into = make("span", "", body, "before");
      make("span", "… ", body, "cut");
    }
    let end = 0;
    const addText = (to) => {
      if (into !== body && to >= start) {
        into.append(text.slice(end, start));
        [into, end] = [body, start];
      }
      into.append(text.slice(end, to));
    };
    for (let i = 0; i < marks.length; i += 2) {
      addText(marks[i]);
      make("mark", text.slice(marks[i], marks[i + 1]), into);
      end = marks[i + 1];
    }
    addText(text.length);
    if (length > data.characters) body.append(" …");
  };
  const gradeText = (grade) => (grade === undefined ? "not judged" : grade > 0 ? `relevant (${grade})` : `not relevant (${grade})`);
  // Which words a score comes from, of query and document.
  const showSources = ([document_, detail, ...texts], parent) => {
    const box = make("details", "", parent);
    const heading = make("summary", "Where the score of ", box);
    make("bdi", document_, heading);
    heading.append(" comes from");
    for (const words of texts) {
      const line = make("p", "", box, "map");
      line.dir = "auto";
      for (const [before, text, title, style] of words) {
        line.append(before);
        const word = make("span", text, line);
        word.title = title;
        word.style.cssText = style;
      }
    }
    make("small", detail, box);
  };
  const showRow = (row, number, parent) => {
    const { grades, marks } = set.queries[number];
    const card = make("section", "", parent, "row");
    make("h4", row.label, card);
    make("p", `${set.measure} ${row.values[number].toFixed(3)}`, card, "hint");
    const found = make("ol", "", card);
    for (const [document_, score, place] of row.rankings[number]) {
      const item = make("li", "", found);
      const grade = grades[document_];
      make("bdi", data.documents[document_][0], item);
      make("span", gradeText(grade), item, grade > 0 ? "chip supported" : "chip");
      make("small", `score ${score}${place ? `, candidate ${place}` : ""}`, item);
      showText(document_, marks[document_] ?? [], item);
    }
    if (!row.rankings[number].length) make("p", "nothing found", card, "hint");
    if (row.attributions[number]) showSources(row.attributions[number], card);
  };
  const show = (number) => {
    selected = number;
    const { id, text, relevant } = set.queries[number];
    for (const item of list.querySelectorAll("[aria-selected]")) item.removeAttribute("aria-selected");
    const item = document.getElementById(`searches-query-${number}`);
    if (item) {
      item.ariaSelected = "true";
      list.setAttribute("aria-activedescendant", item.id);
      list.scrollTop = Math.min(Math.max(list.scrollTop, item.offsetTop + item.offsetHeight - list.clientHeight), item.offsetTop);
    }
    query.replaceChildren();
    make("bdi", text, make("h3", "", query));
    const line = make("p", "", query, "hint");
    make("a", `query ${id}`, line).href = address(number);
    line.append(`; ${relevant} relevant ${relevant === 1 ? "document" : "documents"}`);
    const rows = make("div", "", query, "rows");
    const first = [Number(right.value), Number(left.value)];
    for (const i of new Set([...first, ...set.rows.keys()])) showRow(set.rows[i], number, rows);
  };
  const select = (number) => {
    show(number);
    history.replaceState(null, "", address(number));
  };
  const showNone = (why) => {
    query.replaceChildren();
    list.removeAttribute("aria-activedescendant");
    make("p", why, query, "hint");
  };
  const refresh = (keep) => {
    const numbers = showList();
    if (!numbers.length) showNone("No query has these words.");
    else show(keep && numbers.includes(selected) ? selected : numbers[0]);
  };
  const compare = (a, b) => {
    left.value = a;
    right.value = b;
  };

  const showTable = () => {
    table.replaceChildren();
    const head = make("tr", "", table.createTHead());
    const names = { bm25: "BM25", control: "the control" };
    const kinds = Object.keys(names).filter((kind) => set.rows.some((row) => row.baselines[kind]));
    for (const name of ["Run", set.measure, ...kinds.map((kind) => `Wins / ties / losses against ${names[kind]}`)])
      make("th", name, head).scope = "col";
    const body = table.createTBody();
    set.rows.forEach((row, a) => {
      const line = make("tr", "", body);
      make("th", row.label, line).scope = "row";
      make("td", row.mean.toFixed(3), line, "number");
      for (const kind of kinds) {
        const cell = make("td", row.baselines[kind] ? "" : "–", line, "number");
        if (!row.baselines[kind]) continue;
        const [b, text] = row.baselines[kind];
        const button = make("button", "", cell, "ours");
        button.type = "button";
        make("b", outcomes(a, b).join(" / "), button);
        make("small", text, button);
        // BM25 over term frequencies, tuned as the row is, where the row is tuned.
        if (kind === "bm25" && set.rows[b].label !== names.bm25) make("small", `against ${set.rows[b].label}`, button);
        button.addEventListener("click", () => {
          compare(a, b);
          refreshWithAddress();
          list.scrollIntoView({ block: "nearest" });
        });
      }
    });
  };
  const open = (number) => {
    set = data.sets[number];
    setChoice.value = number;
    for (const choice of [left, right]) {
      choice.replaceChildren();
      set.rows.forEach((row, i) => option(choice, i, row.label));
    }
    // The best trained model, where there is one: it has a control, which the control itself has not.
    const compared = [...set.rows.keys()].filter((i) => set.rows[i].baselines.bm25);
    const models = compared.filter((i) => !set.rows[i].first_stage);
    const trained = models.filter((i) => set.rows[i].baselines.control).sort((a, b) => set.rows[b].mean - set.rows[a].mean);
    const model = trained[0] ?? models[0] ?? compared[0] ?? 0;
    compare(model, set.rows[model].baselines.bm25?.[0] ?? Math.min(1, set.rows.length - 1));
    filter.value = "";
    showTable();
  };
  // What `address` gives; the second row may be left out.
  const follow = () => {
    const [key, id, row, otherKey] = location.hash.slice(1).split("/").map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
    if (id === undefined) return false;
    const number = data.sets.findIndex((other) => other.key === key);
    open(Math.max(number, 0));
    const a = set.rows.findIndex((other) => other.key === row);
    const b = set.rows.findIndex((other) => other.key === otherKey);
    if (a >= 0) compare(a, b >= 0 ? b : (Object.values(set.rows[a].baselines)[0]?.[0] ?? right.value));
    showList();
    const wanted = set.queries.findIndex((other) => other.id === id);
    if (number < 0) showNone(`These searches have no data set ${key}.`);
    else if (wanted < 0) showNone(`Query ${id} is not listed: the page has ${counted(set.queries.length, ["query", "queries"])} of ${set.title}, of ${set.judged.toLocaleString("en")} judged.`);
    else show(wanted);
    document.getElementById("searches").scrollIntoView({ behavior: "instant" });
    return true;
  };

  data.sets.forEach((other, number) => option(setChoice, number, other.title));
  setChoice.parentElement.hidden = data.sets.length < 2;
  const refreshWithAddress = (keep) => {
    refresh(keep);
    if (list.hasAttribute("aria-activedescendant")) history.replaceState(null, "", address(selected));
  };
  setChoice.addEventListener("change", () => {
    open(Number(setChoice.value));
    refreshWithAddress();
  });
  for (const choice of [left, right, order]) choice.addEventListener("change", () => refreshWithAddress(choice !== order));
  whole.addEventListener("change", () => query.classList.toggle("whole", whole.checked));
  filter.addEventListener("input", () => refreshWithAddress(true));
  list.addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) select(Number(item.id.split("-").pop()));
  });
  list.addEventListener("keydown", (event) => {
    const items = [...list.children];
    const place = items.findIndex((item) => item.ariaSelected === "true");
    const step = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: items.length - 1, PageDown: place + 10, PageUp: place - 10 };
    if (!(event.key in step)) return;
    event.preventDefault();
    select(Number(items[Math.min(items.length - 1, Math.max(0, step[event.key]))].id.split("-").pop()));
  });
  window.addEventListener("hashchange", follow);
  if (!follow()) {
    open(0);
    refresh();
  }
})();
