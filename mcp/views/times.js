
draw = (data, words) => {
  const books = data.book && host.can.serverTools;
  const slots = data.slots.map((slot) => {
    const what = `${slot.day}, ${slot.time}`;
    const item = el('li', {});
    const choice = books ? button(what, () => choose(slot, item, choice)) : el('b', { textContent: what });
    item.append(choice, ...slot.notes.map((note) => el('p', { className: 'soft', textContent: note })));
    return item;
  });
  let open;

  // choose asks for a title and a confirmation, below the slot.
  function choose(slot, item, choice) {
    open?.remove();
    const title = el('input', { type: 'text', maxLength: 200 });
    const book = button(words['conversation.book'], async () => {
      if (!title.value.trim()) return title.focus();
      const result = await host.use(data.book.tool, {
        ...data.book.arguments, title: title.value.trim(), start: slot.start, end: slot.end, idempotency_key: once,
      });
      const proposed = result.structuredContent?.proposed;
      const done = el('p', { className: 'done', role: 'status', tabIndex: -1, textContent:
        `${words[proposed ? 'conversation.suggested' : 'conversation.booked']} ${title.value.trim()}, ${slot.day}, ${slot.time}` });
      document.querySelector('main').replaceChildren(done);
      done.focus();
    });
    const once = newKey();
    const cancel = el('button', { type: 'button', className: 'plain', textContent: words['page.cancel'],
      onclick: () => { open.remove(); choice.focus(); } });
    title.onkeydown = (event) => {
      if (event.key === 'Enter' && !event.isComposing) book.click();
      if (event.key === 'Escape') cancel.click();
    };
    open = el('div', { className: 'card' },
      el('label', {}, words['planner.part.title'], title),
      data.book.note && el('p', { textContent: data.book.note }),
      el('div', { className: 'row' }, book, cancel));
    item.append(open);
    setTimeout(() => title.focus());
  }

  return [el('h1', { textContent: data.title }),
    slots.length ? el('ul', { className: 'list' }, ...slots) : el('p', { textContent: words['conversation.no-slot'] })];
};
