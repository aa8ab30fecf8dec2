// Passkeys need a script: it asks the browser, and sends what that answers as a form like any other.
"use strict";

const bytes = text => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
const text = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// Not every browser can read and write the JSON of WebAuthn by itself.
function read(options) {
  options.challenge = bytes(options.challenge);
  if (options.user) options.user.id = bytes(options.user.id);
  for (const list of [options.allowCredentials, options.excludeCredentials]) {
    for (const one of list || []) one.id = bytes(one.id);
  }
  return options;
}

function written(made) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (made.response[name]) response[name] = text(made.response[name]);
  }
  if (made.response.getTransports) response.transports = made.response.getTransports();
  return JSON.stringify({
    id: made.id, rawId: text(made.rawId), type: made.type, response,
    authenticatorAttachment: made.authenticatorAttachment || undefined, clientExtensionResults: made.getClientExtensionResults(),
  });
}

async function ask(form) {
  const publicKey = read(JSON.parse(form.dataset.options));
  const made = await navigator.credentials[form.dataset.what]({ publicKey });
  form.elements.answer.value = written(made);
}

for (const form of document.querySelectorAll("form.passkey")) {
  const hint = form.querySelector("[role=status]");
  if (!window.PublicKeyCredential) {
    hint.textContent = form.dataset.none;
    continue;
  }
  form.querySelector("button").hidden = false;
  form.addEventListener("submit", event => {
    if (form.elements.answer.value) return;
    event.preventDefault();
    hint.textContent = form.dataset.follow;
    ask(form).then(() => form.submit(), fault => {
      hint.textContent = fault.name === "InvalidStateError" ? form.dataset.known : form.dataset.failed;
    });
  });
}
