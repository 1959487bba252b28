"use strict";
(() => {
  // A count of verdicts shows its cells alone: other tables, panels and rows are hidden, other cells of a row faint.
  const bar = document.getElementById("filter");
  const sections = document.querySelectorAll("main > section[data-paper]");
  const clear = () => {
    bar.hidden = true;
    for (const made of document.querySelectorAll(".filtered")) made.classList.remove("filtered");
    for (const made of document.querySelectorAll(".faint")) made.classList.remove("faint");
  };
  const filter = ({ paper, table, outcome, label }) => {
    clear();
    let cells = 0;
    let first = null;
    for (const section of sections) {
      const asked = table ? section.dataset.table === table : section.dataset.paper === paper;
      let kept = 0;
      for (const grid of section.querySelectorAll(".scroll")) {
        let inside = 0;
        for (const row of grid.querySelectorAll("tbody tr")) {
          const fitting = [...row.cells].filter((cell) => asked && (cell.dataset.verdicts || "").split("|").includes(outcome));
          row.classList.toggle("filtered", !fitting.length);
          inside += fitting.length;
          if (fitting.length)
            for (const cell of row.cells) if (cell.tagName === "TD") cell.classList.toggle("faint", !fitting.includes(cell));
        }
        grid.classList.toggle("filtered", !inside);
        const heading = grid.closest("details") || grid.previousElementSibling;
        heading.classList.toggle("filtered", !inside);
        if (inside) heading.open = true;
        kept += inside;
      }
      section.classList.toggle("filtered", !kept);
      cells += kept;
      if (kept && !first) first = section;
    }
    bar.firstElementChild.textContent = `${label}: ${outcome}, ${cells} ${cells === 1 ? "cell" : "cells"}.`;
    bar.hidden = false;
    return first;
  };
  for (const link of document.querySelectorAll(".count-link"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const first = filter(link.dataset);
      if (first) first.scrollIntoView();
    });
  bar.querySelector("button").addEventListener("click", clear);
})();
