// Expands recurrence rules with ical.js. Reads one JSON object a line,
// {"rule": "FREQ=…", "start": "2026-08-03T20:00:00", "count": 40}, and answers
// each with a line: a JSON array of times on the wall clock, or {"error": "…"}.
import { createInterface } from "node:readline";
import ICAL from "ical.js";

function expand({ rule, start, count }) {
  const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateTimeString(start));
  const times = [];
  for (let next = iterator.next(); next && times.length < count; next = iterator.next()) {
    times.push(next.toString());
  }
  return times;
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = expand(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
