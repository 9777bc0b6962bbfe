// The success curve, large and small.

import { make, percent, shape, table } from "./dom.js";

// The points without those that were measured before descriptions were taken back.
export function activePoints(points) {
  const kept = [];
  for (const point of points) {
    if (!point.requests) continue; // there was no exam yet
    while (kept.length && kept.at(-1).described >= point.described) kept.pop();
    kept.push(point);
  }
  return kept;
}

const share = (point) => (point.requests ? point.right / point.requests : 0);

export function spark(points) {
  const [wide, high] = [120, 28];
  const most = points.at(-1).described || 1;
  const places = points.map(
    (point) => `${2 + ((wide - 4) * point.described) / most},${high - 2 - (high - 4) * share(point)}`,
  );
  return shape(
    "svg",
    { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, class: "spark", "aria-hidden": "true" },
    shape("polyline", { points: places.join(" ") }),
  );
}

function ticks(most) {
  const rough = Math.max(1, most / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let at = 0; at <= most; at += step) found.push(at);
  return found;
}

// `room` is how many pixels there are, so that its letters are as large as those around it.
export function chart(points, chance, room) {
  const wide = Math.min(Math.max(room, 280), 700);
  const [high, left, right, top, bottom] = [wide < 500 ? 240 : 300, 52, 68, 14, 46];
  const most = Math.max(points.at(-1).described, 5);
  const x = (described) => left + ((wide - left - right) * described) / most;
  const y = (part) => high - bottom - (high - top - bottom) * part;
  const text = (words, at, more = {}) => shape("text", { ...at, ...more }, words);
  const parts = [];
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(shape("line", { class: "grid", x1: left, x2: wide - right, y1: y(part), y2: y(part) }));
    parts.push(text(percent(part), { x: left - 8, y: y(part) + 5, "text-anchor": "end" }));
  }
  for (const at of ticks(most)) {
    parts.push(text(String(at), { x: x(at), y: high - bottom + 20, "text-anchor": "middle" }));
  }
  const middle = (left + wide - right) / 2;
  parts.push(text("descriptions taught", { x: middle, y: high - 5, "text-anchor": "middle" }));
  if (chance) {
    parts.push(shape("line", { class: "chance", x1: left, x2: wide - right, y1: y(chance), y2: y(chance) }));
    parts.push(text("chance", { x: wide - right + 10, y: y(chance) + 5 }));
  }
  const places = points.map((point) => `${x(point.described)},${y(share(point))}`);
  parts.push(shape("polyline", { class: "curve", points: places.join(" ") }));
  const last = points.at(-1);
  parts.push(shape("circle", { class: "end", cx: x(last.described), cy: y(share(last)), r: 5 }));
  const clear = !chance || Math.abs(y(share(last)) - y(chance)) > 16;
  if (clear) {
    const at = { x: x(last.described) + 10, y: y(share(last)) + 5 };
    parts.push(text(percent(share(last)), at, { class: "strong" }));
  }
  const says =
    `Success on held-out requests, from ${percent(share(points[0]))} after ` +
    `${points[0].described} descriptions to ${percent(share(last))} after ${last.described}` +
    (chance ? `; chance is ${percent(chance)}.` : ".");
  return make(
    "figure",
    { class: "chart" },
    shape("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": says }, ...parts),
  );
}

export function chartTable(points) {
  return table(
    "Success after so many descriptions were taught",
    ["Taught", "Requests met", "Of", "Share"],
    points.map((point) => [point.described, point.right, point.requests, percent(share(point))]),
  );
}
