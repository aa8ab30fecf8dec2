// Fills in the browser's time zone where a form asks for it, and says where a page shows times of another zone.
"use strict";

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

// Browsers and IANA have several names for some zones.
function same(a, b) {
  const year = new Date().getFullYear();
  const shown = (month, timeZone) => new Date(Date.UTC(year, month, 1)).toLocaleString("en", { timeZone });
  return [0, 3, 6, 9].every(month => shown(month, a) === shown(month, b));
}

if (here) {
  for (const field of document.querySelectorAll("[data-browser-zone]")) field.value = here;
  for (const note of document.querySelectorAll("[data-zone]")) {
    if (same(note.dataset.zone, here)) continue;
    note.querySelector("b").textContent = here;
    for (const button of note.querySelectorAll("[data-take-zone]")) {
      button.addEventListener("click", () => { document.getElementById(button.dataset.takeZone).value = here; });
    }
    note.hidden = note.querySelector("span").hidden = false;
  }
}
