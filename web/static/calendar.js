// Makes the calendar page faster to use: drag to create, move and resize, a keyboard, links without a full load, and
// changes made elsewhere. Everything here also works with forms and links alone.
"use strict";

const minutes = 5, day = 288;
const planner = () => document.querySelector(".planner");
// live is the part of a page that follows changes made elsewhere.
const live = () => planner() ?? document.querySelector("[data-live]");
const main = document.querySelector("main");

// ---- Pages without a full load

// loading is the latest request for a page. A later request stops it, unless it saves a change.
let loading = null;

async function load(address, options = {}) {
  if (!loading?.saves) loading?.abort();
  const mine = loading = new AbortController();
  mine.saves = Boolean(options.method);
  let response, text;
  try {
    response = await fetch(address, { ...options, signal: mine.signal, headers: { Accept: "text/html" } });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") return false;
    location.href = address;
    return false;
  }
  while (drag) await new Promise(resolve => { addEventListener("pointerup", resolve, { once: true }); });
  if (loading !== mine) return false;
  loading = null;
  const next = new DOMParser().parseFromString(text, "text/html");
  const fresh = next.querySelector("main");
  if (!fresh || !next.querySelector(".planner, [data-live]")) {
    if (options.method) { main.replaceChildren(...(fresh ?? next.body).childNodes); return false; }
    location.href = response.url;
    return false;
  }
  const scroll = scrollY, inner = main.querySelector(".week")?.scrollTop, focused = document.activeElement?.getAttribute?.("href");
  main.replaceChildren(...fresh.childNodes);
  document.title = next.title;
  if (!options.quiet && response.url !== location.href) history.pushState(null, "", response.url);
  ready();
  scrollTo(0, scroll);
  if (inner && main.querySelector(".week")) main.querySelector(".week").scrollTop = inner;
  if (focused) [...main.querySelectorAll("a")].find(a => a.getAttribute("href") === focused)?.focus();
  return true;
}

addEventListener("popstate", () => { if (planner()) load(location.href, { quiet: true }); else location.reload(); });

document.addEventListener("click", event => {
  const earlier = event.target.closest?.(".days > p > a[rel=prev]");
  if (earlier && Number(earlier.closest(".days").dataset.days) < mostListDays && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    earlier.dataset.left = "";
    extend(earlier.closest(".days"), earlier);
    return;
  }
  const link = event.target.closest?.(".kinds a, .top a, .mini a, .head a, .month a.number, .month a.more");
  if (!link || !planner() || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  load(link.href);
});

document.addEventListener("change", event => {
  if (event.target.closest(".ticks")) event.target.form.requestSubmit();
});

// ---- Dragging

const iso = (date, units) => `${date}T${String(Math.floor(units / 12)).padStart(2, "0")}:${String(units % 12 * minutes).padStart(2, "0")}`;
const unitsOf = local => (Number(local.slice(11, 13)) * 60 + Number(local.slice(14, 16))) / minutes;

function dayAt(x, y) {
  return document.elementsFromPoint(x, y).find(e => e.dataset?.day)?.closest("[data-day]");
}
function unitAt(column, y) {
  const box = column.getBoundingClientRect();
  return Math.max(0, Math.min(day, (y - box.top) / box.height * day));
}
const snap = units => Math.round(units / 3) * 3; // a quarter of an hour

function addDays(date, n) {
  const d = new Date(date + "T12:00:00Z");
  d.setUTCDate(d.getUTCDate() + n);
  return d.toISOString().slice(0, 10);
}
const daysBetween = (a, b) => Math.round((Date.parse(b + "T12:00:00Z") - Date.parse(a + "T12:00:00Z")) / 864e5);

let drag = null;

document.addEventListener("pointerdown", event => {
  if (event.button || event.pointerType === "touch" || !planner()) return;
  const item = event.target.closest(".block, a.bar, .line"), column = event.target.closest(".hours > .day");
  if (item && "movable" in item.dataset) {
    const edge = item.classList.contains("block") && item.getBoundingClientRect().bottom - event.clientY < 8;
    drag = { item, kind: edge ? "resize" : "move", x: event.clientX, y: event.clientY, from: dayAt(event.clientX, event.clientY) };
  } else if (!item && column) {
    drag = { kind: "create", column, x: event.clientX, y: event.clientY, start: unitAt(column, event.clientY) };
  }
});

document.addEventListener("pointermove", event => {
  if (!drag) return;
  if (!drag.moving) {
    if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 5) return;
    drag.moving = true;
    if (drag.item) {
      drag.ghost = drag.item;
      drag.ghost.classList.add("ghost");
    } else {
      drag.ghost = document.createElement("div");
      drag.ghost.className = "draft";
      drag.column.append(drag.ghost);
    }
  }
  event.preventDefault();
  getSelection().removeAllRanges();
  drag.to = dayAt(event.clientX, event.clientY) ?? drag.to;
  if (drag.kind === "create") {
    const end = unitAt(drag.column, event.clientY);
    drag.top = snap(Math.min(drag.start, end));
    drag.bottom = Math.max(snap(Math.max(drag.start, end)), drag.top + 3);
    setPlace(drag.ghost, drag.top, drag.bottom - drag.top);
    return;
  }
  if (drag.item.classList.contains("block")) {
    const shift = (event.clientY - drag.y) / drag.item.parentElement.getBoundingClientRect().height * day;
    const start = unitsOf(drag.item.dataset.start), end = unitsOf(drag.item.dataset.end) || day;
    if (drag.kind === "resize") {
      drag.bottom = Math.min(day, Math.max(snap(end + shift), start + 3));
      setPlace(drag.ghost, start, drag.bottom - start);
      return;
    }
    drag.top = Math.max(0, Math.min(day - 3, snap(start + shift)));
    setPlace(drag.ghost, drag.top, Math.max(1, end - start));
    if (drag.to?.classList.contains("day") && drag.to !== drag.ghost.parentElement) drag.to.append(drag.ghost);
  } else if (drag.to && drag.to !== drag.ghost.parentElement) {
    drag.to.append(drag.ghost);
  }
});

function setPlace(element, top, height) {
  for (const name of [...element.classList]) if (/^[th]\d+$/.test(name)) element.classList.remove(name);
  element.classList.add(`t${Math.round(top)}`, `h${Math.round(height)}`);
}

addEventListener("pointerup", () => finish(true));
addEventListener("pointercancel", () => finish(false));
addEventListener("keydown", event => { if (event.key === "Escape" && drag) finish(false); }, true);

let suppressed = false;
document.addEventListener("click", event => {
  if (suppressed) { event.preventDefault(); event.stopPropagation(); suppressed = false; }
}, true);
document.addEventListener("dragstart", event => { if (event.target.closest?.(".planner a")) event.preventDefault(); });

function finish(done) {
  const d = drag;
  drag = null;
  if (!d?.moving) return;
  suppressed = true;
  setTimeout(() => { suppressed = false; }, 0);
  if (!done) return load(location.href, { quiet: true });
  const base = planner().dataset.base;
  if (d.kind === "create") {
    location.href = `${base}/calendar/new?start=${iso(d.column.dataset.day, d.top)}&end=${ending(d.column.dataset.day, d.bottom)}`;
    return;
  }
  const { start, end } = d.item.dataset;
  const form = new URLSearchParams({ next: location.pathname.slice(base.length) + location.search });
  const shift = d.from && d.to ? daysBetween(d.from.dataset.day, d.to.dataset.day) : 0;
  if (d.kind === "resize") {
    form.set("start", start);
    form.set("end", ending(start.slice(0, 10), d.bottom));
  } else if ("allDay" in d.item.dataset) {
    form.set("start", addDays(start.slice(0, 10), shift));
  } else if (d.item.classList.contains("block")) {
    form.set("start", iso(addDays(start.slice(0, 10), shift), d.top));
  } else {
    form.set("start", addDays(start.slice(0, 10), shift) + start.slice(10));
  }
  if (form.get("start") === start && !form.has("end")) return load(location.href, { quiet: true });
  const at = new URL(d.item.href);
  load(`${at.pathname}/move${at.search}`, { method: "POST", body: form });
}
const ending = (date, units) => units >= day ? addDays(date, 1) + "T00:00" : iso(date, units);

// ---- Keyboard: one tab stop per grid, arrows between days and events, letters for views

const keys = { d: "day", w: "week", m: "month", l: "list" };

document.addEventListener("keydown", event => {
  const page = planner();
  if (!page || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  const grid = event.target.closest("[role=grid]");
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
  if (grid && step && page.dataset.kind === "month") {
    event.preventDefault();
    focusDay(event.target.closest("[data-day]"), step);
  } else if (grid && step) {
    event.preventDefault();
    const cell = event.target.closest("[data-day]");
    if (Math.abs(step) === 1) focusDay(cell, step);
    else focusWithin(cell, Math.sign(step));
  } else if (grid && (event.key === "PageUp" || event.key === "PageDown")) {
    event.preventDefault();
    document.querySelector(`.top a[rel=${event.key === "PageUp" ? "prev" : "next"}]`)?.click();
  } else if (page.dataset.shortcuts !== "off" && (!event.shiftKey || "/?".includes(event.key))) {
    const base = page.dataset.base;
    if (keys[event.key]) load(`${base}/calendar/${keys[event.key]}/${page.dataset.date}`);
    else if (event.key === "t") document.querySelector(".top a")?.click();
    else if (event.key === "j" || event.key === "n") document.querySelector(".top a[rel=next]")?.click();
    else if (event.key === "k" || event.key === "p") document.querySelector(".top a[rel=prev]")?.click();
    else if (event.key === "c") location.href = document.querySelector(".button.new").href;
    else if (event.key === "?") location.href = `${base}/calendar/keys`;
    else if (event.key === "/") document.getElementById("find")?.focus();
    else return;
    event.preventDefault();
  }
});

const stops = cell => [...cell.querySelectorAll("a")];

function focusDay(cell, step) {
  const cells = [...cell.closest("[role=grid]").querySelectorAll(`[role=gridcell]${cell.classList.contains("day") ? ".day" : cell.classList.contains("allday") ? ".allday" : ""}`)];
  const next = cells[cells.indexOf(cell) + step];
  if (!next) {
    const page = planner();
    load(`${page.dataset.base}/calendar/${page.dataset.kind}/${addDays(cell.dataset.day, step)}`);
    return;
  }
  focusOn(stops(next)[0] ?? next);
}

// focusWithin goes through a day: the cell of whole days with its events, then the cell of the hours with its events.
function focusWithin(cell, step) {
  const cells = cell.closest("[role=grid]").querySelectorAll(`[role=gridcell][data-day="${cell.dataset.day}"]`);
  const way = [...cells].flatMap(one => [one, ...stops(one)]);
  const next = way[way.indexOf(document.activeElement) + step];
  if (next) focusOn(next);
}

function focusOn(element) {
  for (const stop of element.closest("[role=grid]").querySelectorAll("[tabindex='0']")) stop.tabIndex = -1;
  element.tabIndex = 0;
  element.focus();
}

// ---- A list without end: earlier and later pages are added when their links come into sight

const listDays = 30, mostListDays = 360;
let extending = false;

async function extend(list, link) {
  const days = Number(list.dataset.days) + listDays, date = link.href.slice(-10);
  if (extending || days > mostListDays) return;
  extending = true;
  let more = null;
  try {
    const response = await fetch(link.href);
    if (response.ok) more = new DOMParser().parseFromString(await response.text(), "text/html").querySelector(".days");
  } catch { /* the link stays */ }
  extending = false;
  const next = more?.querySelector(`:scope > p > a[rel=${link.rel}]`);
  if (!next || !list.isConnected) return;
  const sections = more.querySelectorAll("section"), tall = document.documentElement.scrollHeight;
  if (link.rel === "next") link.parentElement.before(...sections);
  else {
    link.parentElement.after(...sections);
    scrollBy(0, document.documentElement.scrollHeight - tall);
    list.dataset.first = date;
  }
  link.href = next.href;
  list.dataset.days = days;
  const page = planner();
  history.replaceState(null, "", `${page.dataset.base}/calendar/list/${list.dataset.first ?? page.dataset.date}?days=${days}`);
  sight?.unobserve(link);
  sight?.observe(link);
}

// The link at the top is in sight from the start, so it counts when it comes back.
const sight = window.IntersectionObserver && new IntersectionObserver(all => {
  for (const { target, isIntersecting } of all) {
    if (!isIntersecting) target.dataset.left = "";
    else if (target.rel === "next" || "left" in target.dataset) extend(target.closest(".days"), target);
  }
}, { rootMargin: "200px" });

function above(event) {
  const link = main.querySelector(".days > p > a[rel=prev]");
  if (!link || scrollY || event.deltaY >= 0) return;
  link.dataset.left = "";
  extend(link.closest(".days"), link);
}
addEventListener("wheel", above, { passive: true });

// ---- After each load

function ready() {
  const page = planner();
  if (page) {
    for (const grid of page.querySelectorAll("[role=grid]")) {
      for (const stop of grid.querySelectorAll("a, [role=gridcell]")) stop.tabIndex = -1;
      const first = grid.querySelector(".today[role=gridcell]") ?? grid.querySelector("[role=gridcell] a, [role=gridcell]");
      if (first) first.tabIndex = 0;
    }
    for (const link of page.querySelectorAll(".days > p > a")) sight?.observe(link);
    for (const button of page.querySelectorAll(".ticks button")) button.hidden = true;
  }
  const pick = document.getElementById("pick"), guests = document.getElementById("guests");
  if (pick && guests) {
    const add = () => {
      guests.value = (guests.value.trim() + "\n" + pick.value.trim()).trim();
      pick.value = "";
    };
    pick.addEventListener("change", () => { if (pick.value.includes("@")) add(); });
    // Enter in this field adds the guest. The server adds one that is left there.
    pick.form.addEventListener("submit", event => {
      if (document.activeElement !== pick) return;
      event.preventDefault();
      add();
    });
    pick.addEventListener("focus", async () => {
      const response = await fetch(pick.dataset.met).catch(() => null);
      if (response?.ok && !response.redirected) pick.list.append(...(await response.json()).map(line => new Option("", line)));
    }, { once: true });
  }
  const shade = document.querySelector("input[name=shade]");
  shade?.addEventListener("input", () => { shade.form.querySelector("[name=color][value=other]").checked = true; });
  const whole = document.querySelector("input[name=all-day]");
  if (whole) {
    const show = () => { for (const id of ["start-time", "end-time"]) document.getElementById(id).hidden = whole.checked; };
    whole.addEventListener("change", show);
    show();
    const [start, startTime, end, endTime] = ["start", "start-time", "end", "end-time"].map(id => document.getElementById(id));
    const at = (date, time) => Date.parse(`${date.value}T${time.value || "00:00"}Z`);
    // The end follows the start, so that the event keeps its length.
    let last = at(start, startTime);
    for (const field of [start, startTime]) field.addEventListener("change", () => {
      const next = at(start, startTime), until = at(end, endTime) + next - last;
      if (next) last = next;
      if (!until) return;
      const text = new Date(until).toISOString();
      end.value = text.slice(0, 10);
      if (endTime.value) endTime.value = text.slice(11, 16);
    });
  }
}

// ---- Changes made elsewhere

// idle reports whether the page may be replaced: no form of an event is filled in.
const idle = () => live() && (planner() || ![...main.querySelectorAll("input, textarea, select")].some(field =>
  field === document.activeElement || field.value !== (field.defaultValue ?? field.value) || field.checked !== (field.defaultChecked ?? field.checked)));

function follow() {
  const page = live();
  if (!page || !window.EventSource) return;
  let source = null, late = null;
  // reload waits until nothing is dragged or saved.
  const reload = () => {
    clearTimeout(late);
    late = setTimeout(() => {
      if (drag || loading?.saves) reload();
      else if (idle() && !document.querySelector("dialog[open]")) load(location.href, { quiet: true });
    }, 300);
  };
  const open = () => {
    source = new EventSource(`${page.dataset.base}/calendar/changes`);
    source.addEventListener("change", reload);
  };
  // One stream for all tabs of a browser: HTTP/1.1 allows six connections.
  if (navigator.locks) navigator.locks.request("calendar-changes", () => new Promise(() => { share(open); }));
  const channel = window.BroadcastChannel ? new BroadcastChannel("calendar-changes") : null;
  channel?.addEventListener("message", reload);
  function share(begin) {
    begin();
    source.addEventListener("change", () => channel?.postMessage("change"));
  }
}

const week = main.querySelector(".week");
if (week) week.scrollTop = week.querySelector(".hour").offsetHeight * 7;
ready();
follow();
