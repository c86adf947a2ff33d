// Sets the chosen theme before anything is drawn; without a choice, style.css follows the system.
"use strict";
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("okspca-theme"); } catch { /* storage may be forbidden */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
