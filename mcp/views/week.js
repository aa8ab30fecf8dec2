
draw = (data, words) => {
  const title = el('h1', { ariaLive: 'polite' });
  const body = el('div', { className: 'week' });
  let at = 0;
  const more = data.turn && host.can.serverTools;
  const turn = (to) => {
    at = to;
    earlier.ariaDisabled = String(!data.weeks[at - 1] && !more);
    later.ariaDisabled = String(!data.weeks[at + 1] && !more);
    const week = data.weeks[at];
    title.textContent = week.title;
    body.style.setProperty('--hours', week.hours.length);
    body.style.setProperty('--lanes', Math.max(0, ...week.days.map((day) => day.bars.length)));
    body.replaceChildren(scale(week), ...week.days.map((day) => column(day, week)));
  };
  // A week that the result lacks is asked for. The model does not hear of it.
  const leaf = (id, step, days) => button(words[`planner.${id}`], async () => {
    if (data.weeks[at + step]) return turn(at + step);
    if (!more) return;
    const result = await host.ask('tools/call', { name: data.turn.tool, arguments: { ...data.turn.arguments, ...days } });
    if (result.isError) throw new Error(textOf(result));
    show(result);
    document.getElementById(id)?.focus();
  }, { id });
  const earlier = leaf('earlier', -1, data.turn?.before);
  const later = leaf('later', 1, data.turn?.after);
  turn(0);

  function scale(week) {
    const hours = week.hours.map((hour) => el('div', { textContent: hour }));
    return el('div', { className: 'scale', ariaHidden: 'true' }, ...hours);
  }

  function column(day, week) {
    const bars = day.bars.map((i) => i < 0 ? el('li', { className: 'gap' }) : entry(data.events[i], 'bar'));
    const blocks = day.blocks.map((block) => {
      const item = entry(data.events[block.event], 'block');
      const place = { ...block, top: block.top / 60 - week.from, length: (block.bottom - block.top) / 60 };
      for (const name of ['top', 'length', 'column', 'columns']) item.style.setProperty(`--${name}`, place[name]);
      return item;
    });
    const empty = !blocks.length && day.bars.every((i) => i < 0);
    return el('section', { className: `day${day.today ? ' today' : ''}${empty ? ' empty' : ''}`, ariaLabel: day.title },
      el('h2', { textContent: day.name }),
      el('ul', { className: 'bars' }, ...bars), el('ul', { className: 'blocks' }, ...blocks));
  }

  function entry(event, kind) {
    const more = [event.place, event.calendar, event.mark].filter(Boolean).join(', ');
    const item = el('li', { className: kind, title: [event.time, event.title, more].filter(Boolean).join('\n') },
      el('b', { textContent: event.title }), ` ${event.time || words['planner.all-day']} `,
      more && el('span', { className: 'soft', textContent: more }));
    if (event.color) item.style.setProperty('--color', event.color);
    return item;
  }

  const row = el('div', { className: 'row' }, title);
  if (data.weeks.length > 1 || more) row.append(earlier, later);
  return [row, data.events.length ? body : el('p', { textContent: words['page.none'] }),
    data.note && el('p', { textContent: data.note })].filter(Boolean);
};
