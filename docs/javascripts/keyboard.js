// What the theme leaves out for people without a mouse: a way to what scrolls, and names of regions.
document$.subscribe(() => {
  document.querySelector(".md-search").ariaLabel = "Search";
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .formula, pre > code")) box.tabIndex = 0;
  for (const copy of document.querySelectorAll(".md-code__nav")) copy.role = "presentation";
});
