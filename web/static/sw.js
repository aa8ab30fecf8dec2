// Shows notifications that the server pushes, handles their buttons, and keeps visited pages for times without a connection.
"use strict";

self.addEventListener("install", event => {
  self.skipWaiting();
  // Without cookies, so that the page names no user.
  event.waitUntil(fetch(page("account/offline"), { credentials: "omit" }).then(answer => answer.ok && keep("files", page("account/offline"), answer, mostFiles)));
});
self.addEventListener("activate", event => event.waitUntil(Promise.all([
  self.clients.claim(), self.registration.navigationPreload?.enable(),
])));

// A browser ends the subscription of a site that gets a message and shows nothing.
self.addEventListener("push", event => {
  let note = {};
  try {
    note = event.data.json();
  } catch { /* the message is empty or cut off */ }
  event.waitUntil(self.registration.showNotification(note.title || "Calendar", {
    body: note.body || "", tag: note.tag || "", data: { url: note.url, ref: note.ref },
    actions: note.snooze ? [{ action: "snooze", title: note.snooze }, { action: "dismiss", title: note.dismiss }] : [],
  }));
});

const page = path => new URL(path || "calendar/", self.registration.scope).href;

async function open(url) {
  for (const client of await self.clients.matchAll({ type: "window" })) {
    if (client.url === url && "focus" in client) return client.focus();
  }
  return self.clients.openWindow(url);
}

// The session of the browser authorizes the button. If it has ended, the pages ask for the sign-in.
async function settle(action, ref) {
  let answer;
  try {
    answer = await fetch(page("account/notifications/" + action), { method: "POST", body: new URLSearchParams(ref), redirect: "manual" });
  } catch { /* offline */ }
  if (!answer || answer.status !== 204) await open(page("account/notifications"));
}

self.addEventListener("notificationclick", event => {
  event.notification.close();
  const { url, ref } = event.notification.data || {};
  event.waitUntil(ref && event.action ? settle(event.action, ref) : open(page(url)));
});

// ---- Pages offline

// The cache "pages" has the calendar pages that were visited last, "files" their style sheets and scripts. "session" has
// the session that the pages belong to, and the last one that ended: nothing of that one is stored any more.
const mostPages = 60, mostFiles = 40, oldest = 30 * 24 * 3600 * 1000;
const isPage = path => /^(account|calendar|tasks)\//.test(path);
const isFile = path => path.startsWith("account/static/");
const isStored = path => /^(calendar\/(day|days|workweek|week|month|list|event)|tasks)\//.test(path);
const within = url => url.startsWith(self.registration.scope) ? url.slice(self.registration.scope.length) : "";

// One change at a time.
let last = Promise.resolve();
const inTurn = work => last = last.then(work, work);

const stateKey = () => page("account/session");
async function state() {
  const found = await (await caches.open("session")).match(stateKey());
  return found ? found.json() : {};
}

async function belongsTo(session) {
  const before = await state();
  if (!session && !before.now) return false;
  if (session && session === before.ended) return false;
  if (session !== before.now) {
    await caches.delete("pages");
    const next = session ? { now: session, ended: before.ended } : { ended: before.now };
    await (await caches.open("session")).put(stateKey(), new Response(JSON.stringify(next)));
  }
  return Boolean(session);
}

async function keep(cache, url, response, most) {
  const held = await caches.open(cache);
  await held.delete(url);
  await held.put(url, response);
  const all = await held.keys();
  for (const old of all.slice(0, Math.max(0, all.length - most))) await held.delete(old);
}

// The outcome of an action is no part of the page.
function keyOf(url) {
  const key = new URL(url);
  for (const name of ["done", "undo"]) key.searchParams.delete(name);
  key.hash = "";
  return key.href;
}

// Copy is null for a page that is not stored.
async function note(url, session, copy) {
  if (await belongsTo(session) && copy) await keep("pages", keyOf(url), copy, mostPages);
}

// The page as it was, with a line that says so.
async function stored(url) {
  const pages = await caches.open("pages");
  let found = await pages.match(keyOf(url));
  if (!found && within(url).replace(/[?#].*/, "") === "calendar/") {
    for (const key of (await pages.keys()).reverse()) {
      if (/^calendar\/(day|days|workweek|week|month|list)\//.test(within(key.url))) return Response.redirect(key.url);
    }
  }
  if (!found || Date.now() - Date.parse(found.headers.get("Date")) > oldest) return (await caches.open("files")).match(page("account/offline"));
  const headers = new Headers(found.headers);
  headers.delete("Content-Length");
  headers.delete("Content-Encoding");
  const text = (await found.text()).replace(/<main id="main" data-offline="([^"]*)">/, (tag, line) => `${tag}<p class="wrong offline" role="status">${line}</p>`);
  return new Response(text, { headers });
}

async function visit(event) {
  const { request } = event;
  let answer;
  try {
    // The browser's own request says which site caused it; a request of this script would not.
    answer = await event.preloadResponse || await fetch(request);
  } catch (fault) {
    return await stored(request.url) || Promise.reject(fault);
  }
  const session = answer.headers.get("Session-Tag") || "", url = answer.url || request.url;
  if (answer.type === "basic" && (session || answer.ok)) {
    const copy = answer.ok && isStored(within(url)) ? answer.clone() : null;
    event.waitUntil(inTurn(() => note(url, session, copy)));
  }
  return answer;
}

async function file(event) {
  const found = await caches.match(event.request.url);
  if (found) return found;
  const answer = await fetch(event.request);
  if (answer.ok) {
    const copy = answer.clone();
    event.waitUntil(inTurn(() => keep("files", event.request.url, copy, mostFiles)));
  }
  return answer;
}

self.addEventListener("fetch", event => {
  const { request } = event, path = within(request.url);
  if (request.method !== "GET") {
    if (path.startsWith("account/sign-out")) event.waitUntil(inTurn(() => belongsTo("")));
  } else if (isFile(path)) {
    event.respondWith(file(event));
  } else if (isPage(path) && request.headers.get("Accept")?.includes("text/html")) {
    event.respondWith(visit(event));
  } else if (request.mode === "navigate") {
    event.respondWith(Promise.resolve(event.preloadResponse).then(answer => answer || fetch(request)));
  }
});
