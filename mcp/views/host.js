'use strict';
// Speaks MCP Apps with the host: JSON-RPC by postMessage. Texts of events become text nodes, never markup.

const key = 'caldav-mcp-server/view';
const host = { can: {} };
const waiting = new Map();
let last = 0;

const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

host.ask = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++last, { resolve, reject });
  send({ id: last, method, params });
});

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return;
  if (!data.method) {
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) call?.reject(new Error(data.error.message));
    else call?.resolve(data.result);
  } else if (data.id !== undefined) {
    const known = ['ping', 'ui/resource-teardown'].includes(data.method);
    send({ id: data.id, ...(known ? { result: {} } : { error: { code: -32601, message: 'unknown method' } }) });
  } else if (data.method === 'ui/notifications/tool-result') {
    show(data.params);
  } else if (data.method === 'ui/notifications/host-context-changed') {
    dress(data.params);
  }
});

// dress takes the host's theme. Without one, the browser's applies.
function dress(context) {
  const root = document.documentElement;
  if (context?.theme) root.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context?.styles?.variables ?? {})) {
    if (name.startsWith('--') && value) root.style.setProperty(name, value);
  }
}

// use calls a tool and tells the model of its success. It throws the text of a refusal.
host.use = async (name, args) => {
  const result = await host.ask('tools/call', { name, arguments: args });
  if (result.isError) throw new Error(textOf(result));
  if (host.can.updateModelContext) host.ask('ui/update-model-context', { content: result.content }).catch(() => {});
  return result;
};

const textOf = (result) => (result?.content ?? []).map((part) => part.text ?? '').join('\n');

// el returns an element with properties and children, which are elements or texts.
function el(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child || child === 0));
  return element;
}

// button returns a button that is off while its action runs. A failure is shown after the button.
function button(text, action, properties) {
  const pressed = el('button', { type: 'button', textContent: text, ...properties });
  pressed.onclick = async () => {
    pressed.parentElement.querySelector('[role=alert]')?.remove();
    pressed.disabled = true;
    try {
      await action();
    } catch (error) {
      pressed.after(el('p', { role: 'alert', textContent: error.message }));
    }
    pressed.disabled = false;
  };
  return pressed;
}

// newKey makes a call safe to repeat.
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

// draw is set by each view. It returns the content for the data of a result.
let draw;

// show draws a result. One without data, such as an error, is shown as its text.
function show(result) {
  const main = document.querySelector('main');
  const data = result?._meta?.[key];
  main.ariaBusy = 'false';
  if (!data) {
    main.replaceChildren(el('pre', { textContent: textOf(result) }));
    return;
  }
  document.documentElement.lang = data.lang;
  document.title = data.title;
  main.replaceChildren(...draw(data, data.words), el('p', { className: 'soft', textContent: data.zone ?? '' }));
}

new ResizeObserver(() => {
  const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
  send({ method: 'ui/notifications/size-changed', params: { width: innerWidth, height } });
}).observe(document.documentElement);

host.ask('ui/initialize', {
  protocolVersion: '2026-01-26',
  appInfo: { name: 'caldav-mcp-server', version: '1' },
  appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
}).then((answer) => {
  host.can = answer.hostCapabilities ?? {};
  dress(answer.hostContext);
  send({ method: 'ui/notifications/initialized', params: {} });
});
