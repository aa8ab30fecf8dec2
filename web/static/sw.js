// Shows notifications that the server pushes, and handles their buttons.
"use strict";

const actions = [
  { action: "snooze", title: "Snooze 10 minutes" },
  { action: "dismiss", title: "Dismiss" },
];

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));

// A browser ends the subscription of a site that gets a message and shows nothing.
self.addEventListener("push", event => {
  let note = {};
  try {
    note = event.data.json();
  } catch { /* the message is empty or cut off */ }
  event.waitUntil(self.registration.showNotification(note.title || "Calendar", {
    body: note.body || "", tag: note.tag || "", data: { url: note.url, ref: note.ref },
    actions: note.ref && note.ref.instance ? actions : [],
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
