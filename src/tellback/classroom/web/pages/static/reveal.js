// What is told after a description: what was asked, whether it matched, and what it changed.

import { counted, make, quoted } from "./dom.js";

const MOST_LINES = 4;
const MOST_TOLD = 20; // the service tells no more

export function drawReveal(text, answer) {
  const parts = [
    make(
      "p",
      { class: "asked" },
      "It had been asked for ",
      make("strong", {}, quoted(answer.asked)),
      make("br"),
      make("span", { class: "soft" }, `You said ${quoted(text)}`),
    ),
    verdict(answer),
  ];
  if (answer.second) parts.push(make("p", {}, second(answer)));
  if (answer.effect) parts.push(...effect(answer.effect));
  return make("div", {}, ...parts);
}

function verdict({ matched, saw_request: saw }) {
  if (saw) {
    const says = "✎ Changed. It teaches, and is left out of the matches: you had seen the request.";
    return make("p", { class: "verdict" }, says);
  }
  return matched
    ? make("p", { class: "verdict good" }, "✓ A match: it did what it was asked.")
    : make("p", { class: "verdict bad" }, "✗ No match: it did something else. Your words teach it that.");
}

function second({ agrees }) {
  return agrees
    ? "Somebody else described it before you, and you agree."
    : "Somebody else described it before you, and in another way.";
}

function change({ was_right: was, is_right: is }) {
  if (is === null) return { word: "another answer now", mark: "→" };
  if (is && !was) return { word: "now right", mark: "▲" };
  if (was && !is) return { word: "now wrong", mark: "▼" };
  return { word: is ? "another right answer" : "another answer, still wrong", mark: "→" };
}

function effect({ learned, changes, right, requests }) {
  const groups = new Map();
  for (const one of changes) {
    const { word, mark } = change(one);
    const line = `${quoted(one.request)} — ${word}`;
    const group = groups.get(line) ?? { line, mark, times: 0 };
    group.times += 1;
    groups.set(line, group);
  }
  const lines = [...groups.values()].map(({ line, mark, times }) =>
    make(
      "li",
      {},
      make("span", { class: "mark", "aria-hidden": "true" }, mark),
      make("span", {}, times > 1 ? `${line} (${times} times)` : line),
    ),
  );
  const rest = lines.splice(MOST_LINES).length;
  if (rest) lines.push(make("li", { class: "soft" }, make("span", { class: "mark" }), `and ${rest} more`));
  const better = changes.filter((one) => one.is_right && !one.was_right).length;
  const worse = changes.filter((one) => one.was_right && !one.is_right).length;
  const met = right === null ? "" : ` Now ${right} of ${requests} held-out requests are met.`;
  const turns = [better && `${better} turned right`, worse && `${worse} turned wrong`].filter(Boolean);
  const turned = turns.length ? ` ${turns.join(" and ")}.` : "";
  const many = changes.length < MOST_TOLD ? counted(changes.length, "answer") : "20 answers or more";
  const title = changes.length
    ? `Your sentence changed ${many}.${turned}${met}`
    : `Sentence ${learned} changed no answer yet.${met}`;
  return [make("p", { class: "effect" }, title), make("ul", { class: "plain changes" }, ...lines)];
}
