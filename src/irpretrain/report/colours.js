"use strict";
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
