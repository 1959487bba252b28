"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const comparison = document.getElementById("comparison");
  const table = document.getElementById("queries");
  let shown = -1;

  // Everything is put in as text, never as markup.
  const element = (name, text, parent, kind) => {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (kind) made.className = kind;
    if (parent) parent.append(made);
    return made;
  };
  const signed = (number) => `${number < 0 ? "" : "+"}${number.toFixed(3)}`;

  // What the right ranking does with a document, told on both sides: ranks gained or lost, and the other side's rank.
  const change = (entry, side) => {
    const [left, right] = entry.ranks;
    const other = entry.ranks[1 - side];
    if (other === null) return { text: `not in ${data.labels[1 - side]}`, kind: "alone" };
    const moved = left - right;
    const where = `(${data.labels[1 - side]}: ${other})`;
    if (moved === 0) return { text: `= ${where}`, kind: "" };
    return moved > 0 ? { text: `▲ ${moved} ${where}`, kind: "up" } : { text: `▼ ${-moved} ${where}`, kind: "down" };
  };
  const judgement = (grade) => {
    if (grade === null) return { text: "not judged", kind: "" };
    return grade > 0 ? { text: `relevant (${grade})`, kind: "relevant" } : { text: `not relevant (${grade})`, kind: "other" };
  };

  // Attributions, computed with the page or told how to compute.
  const dialog = document.getElementById("words");
  const body = document.getElementById("words-body");
  const map = (words, parent) => {
    const text = element("p", null, parent, "map");
    text.dir = "auto";
    for (const [before, word, value, depth] of words) {
      text.append(before);
      const made = element("span", word, text, Math.abs(depth) < 5 ? "" : depth > 0 ? "positive" : "negative");
      made.title = value;
      made.style.background = `rgba(${depth > 0 ? "214,39,40" : "44,100,220"},${(0.75 * Math.abs(depth)) / 100})`;
    }
  };
  const recipe = (query, entry) => {
    const key = JSON.stringify;
    const lines = ["attributions:", "  my-page:", `    dataset: ${data.how.dataset}`];
    if (["bm25", "ql"].includes(data.how.candidates)) lines.push(`    candidates: ${data.how.candidates}`);
    lines.push(`    query: ${key(query.id)}`, `    document: ${key(entry.id)}`, `    models: [${data.how.models.join(", ")}]`);
    return lines.join("\n");
  };
  const explain = (query, place, number) => {
    const entry = query.documents[number];
    const found = data.attributions[`${place}/${number}`];
    body.replaceChildren();
    element("p", `${query.text} — ${entry.title || entry.id}`, body);
    if (found) {
      element("p", "Red words raise the score, blue ones lower it (dotted line); point at a word for its number. The strongest word of a model has the deepest colour.", body, "hint");
      found.forEach((attribution, side) => {
        if (attribution === null) return;
        element("h3", data.labels[side], body);
        element("p", `Score ${attribution.score}; ${attribution.baseline} with every word replaced. The values miss ${attribution.missed} % of what they should sum to.`, body, "hint");
        map(attribution.query, body);
        map(attribution.document, body);
        if (attribution.cut) element("p", "The rest of the document is not read by the model.", body, "hint");
      });
    } else {
      element("p", "The words of this pair were not computed with this page. These lines in an overlay, and snakemake attributions with it, make a page of it:", body);
      element("pre", recipe(query, entry), body);
      element("p", "To have more pairs in this page, raise queries and documents of the page's attributions.", body, "hint");
    }
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  const light = (number, lit) => {
    for (const made of comparison.querySelectorAll(`[data-document="${number}"]`)) made.classList.toggle("lit", lit);
  };
  const card = (query, place, number, side, parent) => {
    const entry = query.documents[number];
    const judged = judgement(entry.grade);
    const moved = change(entry, side);
    const made = element("li", null, parent, `document ${judged.kind} ${moved.kind === "alone" ? "alone" : ""}`);
    made.dataset.document = number;
    made.tabIndex = 0;
    const top = element("div", null, made, "top");
    element("b", entry.ranks[side], top, "rank");
    element("bdi", entry.title || entry.id, top, "title");
    element("span", entry.scores[side].toFixed(3), top, "score").title = "score";
    if (data.how.models.length) {
      const which = element("button", "Which words?", top, "which");
      which.type = "button";
      which.addEventListener("click", () => explain(query, place, number));
    }
    const text = element("p", null, made, "snippet");
    for (const [part, marked] of entry.snippet) marked ? element("mark", part, text) : text.append(part);
    const bottom = element("div", null, made, "bottom");
    element("span", moved.text, bottom, `moved ${moved.kind}`);
    element("span", judged.text, bottom, `chip ${judged.kind === "relevant" ? "reproduced" : judged.kind === "other" ? "off" : ""}`);
    element("bdi", entry.id, bottom);
    made.addEventListener("pointerenter", () => light(number, true));
    made.addEventListener("pointerleave", () => light(number, false));
    made.addEventListener("focus", () => light(number, true));
    made.addEventListener("blur", () => light(number, false));
  };

  // A line from each document of the left ranking to the same one of the right, where both are shown.
  const draw = () => {
    const picture = comparison.querySelector("svg");
    if (!picture) return;
    picture.replaceChildren();
    const frame = picture.getBoundingClientRect();
    if (!frame.width) return;
    const query = data.queries[shown];
    const middle = (side, number) => {
      const made = comparison.querySelector(`[data-side="${side}"] [data-document="${number}"]`);
      if (!made) return null;
      const place = made.getBoundingClientRect();
      return place.y + place.height / 2 - frame.y;
    };
    for (const number of query.sides[0]) {
      const [from, to] = [middle(0, number), middle(1, number)];
      if (to === null) continue;
      const entry = query.documents[number];
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      const half = frame.width / 2;
      path.setAttribute("d", `M0 ${from}C${half} ${from} ${half} ${to} ${frame.width} ${to}`);
      path.setAttribute("class", `${change(entry, 0).kind} ${entry.grade > 0 ? "relevant" : ""}`);
      path.dataset.document = number;
      picture.append(path);
    }
  };

  const ranking = (query, place, side, parent) => {
    const column = element("div", null, parent);
    column.dataset.side = side;
    const heading = element("h3", data.labels[side], column);
    const documents = query.sides[side];
    element("small", `${data.details[side]}; ${documents.length} of ${query.sizes[side]} documents`, heading);
    if (!documents.length) element("p", "This ranking has no document for the query.", column, "hint");
    const list = element("ol", null, column, "ranking");
    for (const number of documents) card(query, place, number, side, list);
  };
  const missing = (query, parent) => {
    if (!query.unshown.length) return;
    const rest = element("details", null, parent);
    rest.open = true;
    element("summary", `Relevant documents that are not shown (${query.unshown.length + query.more})`, rest);
    const list = element("ul", null, rest);
    for (const entry of query.unshown) {
      const ranks = entry.ranks.map((rank, side) => `${data.labels[side]}: ${rank === null ? "not in it" : `rank ${rank}`}`);
      element("li", `${entry.id}, grade ${entry.grade}; ${ranks.join(", ")}`, list);
    }
    if (query.more) element("li", `… and ${query.more} more`, list);
  };
  const rows = () => [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const numberOf = (row) => Number(row.querySelector(".query").dataset.query);
  const step = (text, distance, parent) => {
    const order = rows().map(numberOf);
    const target = order[order.indexOf(shown) + distance];
    const made = element("button", text, parent);
    made.type = "button";
    made.disabled = !order.includes(shown) || target === undefined;
    made.addEventListener("click", () => show(target));
  };

  const show = (place) => {
    shown = place;
    const query = data.queries[place];
    comparison.replaceChildren();
    const steps = element("div", null, comparison, "steps");
    step("← previous", -1, steps);
    step("next →", 1, steps);
    element("bdi", query.text, element("h2", null, comparison));
    const values = query.values
      ? `${data.measure}: ${data.labels[0]} ${query.values[0].toFixed(3)}, ${data.labels[1]} ${query.values[1].toFixed(3)} (${signed(query.values[1] - query.values[0])})`
      : "no document of it is judged";
    element("p", `${query.id}, ${data.rules[query.rule]}. ${values}`, comparison, "hint");
    missing(query, comparison);
    const columns = element("div", null, comparison, "columns");
    ranking(query, place, 0, columns);
    const gap = element("div", null, columns, "gap");
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    picture.setAttribute("class", "lines");
    picture.setAttribute("aria-hidden", "true");
    gap.append(picture);
    ranking(query, place, 1, columns);
    for (const row of table.tBodies[0].rows) row.classList.toggle("chosen", numberOf(row) === place);
    history.replaceState(null, "", `#${encodeURIComponent(query.id)}`);
    draw();
  };

  table.addEventListener("click", (event) => {
    const button = event.target.closest(".query");
    if (!button) return;
    show(Number(button.dataset.query));
    const narrow = comparison.offsetTop > table.offsetTop + 100;
    if (narrow) comparison.scrollIntoView();
  });
  const search = document.getElementById("search");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      const query = data.queries[numberOf(row)];
      const text = `${query.text} ${query.id} ${data.rules[query.rule]}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    document.getElementById("found").textContent = words.length ? `${rows().length} of ${data.queries.length} queries` : "";
  };
  search.addEventListener("input", filter);
  new ResizeObserver(draw).observe(comparison);

  const asked = () => data.queries.findIndex((query) => `#${encodeURIComponent(query.id)}` === location.hash);
  addEventListener("hashchange", () => {
    if (asked() >= 0 && asked() !== shown) show(asked());
  });
  show(Math.max(0, asked()));
})();
