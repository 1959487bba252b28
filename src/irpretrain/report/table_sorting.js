"use strict";
(() => {
  // Sorting: numbers by data-sort, largest first; cells without a number last; a second press turns the order round.
  const key = (row, place) => {
    const cell = row.cells[place];
    if (cell.dataset.sort === undefined) return cell.textContent.trim();
    return cell.dataset.sort === "" ? null : Number(cell.dataset.sort);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const sort = (heading) => {
    const table = heading.closest("table");
    const body = table.tBodies[0];
    const place = heading.cellIndex;
    const rows = [...body.rows];
    const textual = rows.every((row) => typeof key(row, place) === "string");
    const first = textual ? "ascending" : "descending";
    const last = textual ? "descending" : "ascending";
    const order = heading.ariaSort === first ? last : first;
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [key(a, place), key(b, place)];
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
