
draw = (data, words) => {
  const accepts = data.accept && host.can.serverTools;
  const ticked = [];
  const keys = {};
  const bundles = data.bundles.map((bundle) => {
    const items = bundle.changes.map((change) => {
      const text = [change.what, change.when].filter(Boolean).join(' · ');
      const notes = change.notes.map((note) => el('p', { className: 'soft', textContent: note }));
      if (!accepts) return el('li', {}, text, ...notes);
      const tick = el('input', { type: 'checkbox', checked: true, onchange: count });
      ticked.push({ change, tick });
      return el('li', {}, el('label', {}, tick, text), ...notes);
    });
    const look = bundle.link && host.can.openLinks &&
      button(words['suggestion.look'], () => host.ask('ui/open-link', { url: bundle.link }));
    const withdraw = bundle.withdraw && host.can.serverTools && button(words['suggestion.withdraw'], async () => {
      await host.use('withdraw_proposal', { id: bundle.withdraw });
      const gone = el('p', { className: 'done', role: 'status', tabIndex: -1, textContent: words['suggestion.withdrawn'] });
      section.replaceChildren(gone);
      gone.focus();
    }, { className: 'plain' });
    const section = el('section', {}, bundle.title && el('h2', { textContent: bundle.title }),
      el('ul', { className: 'list' }, ...items),
      (look || withdraw) && el('div', { className: 'row' }, look, withdraw));
    return section;
  });

  // accept makes the ticked changes, if the events still are as the user saw them.
  const accept = button(words['suggestion.accept'], async () => {
    const seen = new Set();
    const changes = ticked.filter(({ tick }) => tick.checked).map(({ change }) => {
      const first = !seen.has(change.object);
      seen.add(change.object);
      return first && change.etag ? { ...change.call, if_match: change.etag } : change.call;
    });
    const key = keys[JSON.stringify(changes)] ??= newKey();
    show(await host.use('change_many', { changes, idempotency_key: key }));
    document.querySelector('[role=status]')?.focus();
  });
  function count() {
    accept.disabled = !ticked.some(({ tick }) => tick.checked);
  }

  return [el('h1', { textContent: data.title }),
    data.done && el('p', { className: 'done', role: 'status', tabIndex: -1, textContent: words['conversation.made'] }),
    bundles.length ? el('div', {}, ...bundles) : el('p', { textContent: words['page.none'] }),
    accepts && el('div', { className: 'row' }, accept)].filter(Boolean);
};
