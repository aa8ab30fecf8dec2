// Subscribes this browser to notifications, and sends the subscription as a form like any other.
"use strict";

const form = document.querySelector("form.subscribe");
const hint = form.querySelector("[role=status]");
const bytes = text => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
const text = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

async function subscribe() {
  if (await Notification.requestPermission() !== "granted") throw new Error("denied");
  const { worker, scope, key } = form.dataset;
  const registration = await navigator.serviceWorker.register(worker, { scope });
  await navigator.serviceWorker.ready;
  const held = await registration.pushManager.getSubscription();
  if (held && text(held.options.applicationServerKey || new ArrayBuffer(0)) !== key) await held.unsubscribe();
  const made = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
  form.elements.endpoint.value = made.endpoint;
  form.elements.key.value = text(made.getKey("p256dh"));
  form.elements.auth.value = text(made.getKey("auth"));
}

if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) {
  hint.textContent = form.dataset.none;
} else {
  form.querySelector("button").hidden = false;
  form.addEventListener("submit", event => {
    if (form.elements.endpoint.value) return;
    event.preventDefault();
    hint.textContent = form.dataset.ask;
    subscribe().then(() => form.submit(), fault => {
      hint.textContent = fault.message === "denied" ? form.dataset.denied : form.dataset.failed;
    });
  });
}
