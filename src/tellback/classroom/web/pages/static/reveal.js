// What is told after a description: what was asked, whether it matched, and what it changed.

import { counted, make, quoted } from "./dom.js";

const MOST_LINES = 4;
const MOST_TOLD = 20; // the service tells no more

export function drawReveal(text, answer, judge) {
  const parts = answer.part ? ofOwn(text, answer.part) : [
    make(
      "p",
      { class: "asked" },
      "It had been asked for ",
      make("strong", {}, quoted(answer.asked)),
      make("br"),
      make("span", { class: "soft you-said" }, `You said ${quoted(text)}`),
    ),
  ];
  // Who judges is not told before how it sounds.
  const judges = answer.asks_judgement && !answer.saw_request;
  const counts = !(answer.second && answer.saw_request); // a second one is never among the matches
  if (!answer.part && !judges && counts) parts.push(verdict(answer));
  if (answer.asks_judgement) parts.push(question(judge));
  if (answer.second) parts.push(make("p", {}, second(answer)));
  if (answer.effect && answer.part !== "exam") parts.push(...effect(answer.effect));
  return make("div", {}, ...parts);
}

// Practice: what may be said is told, gently.
export function drawPractice(text, { right, answers }) {
  const said = make("p", { class: "asked" }, make("span", { class: "soft" }, `You said ${quoted(text)}`));
  const words = answers.map(quoted).join(" or ");
  const says = { true: "✓ Just so.", false: `One would say ${words} here.` }[right];
  const perhaps = `One would say ${words}. Your words may be as good: nobody can tell yet.`;
  return make("div", {}, said, make("p", { class: right ? "verdict good" : "verdict" }, says ?? perhaps));
}

// Of own material, some rounds had no request.
const NO_REQUEST = {
  exam: "✎ Held out: it was drawn at random, and your words will be a request of the exam. They are not taught.",
  first: "It was not asked for anything: requests are made from descriptions, and this was one of the first.",
};

const ofOwn = (text, part) => [
  make("p", { class: "asked" }, make("span", { class: "soft" }, `You said ${quoted(text)}`)),
  make("p", { class: "verdict soft" }, NO_REQUEST[part]),
];

// What is known for sure is said as a verdict; what is only likely, as it sounds. It is about the
// agent alone: nobody knows whether the words are right, and not all that is said teaches.
const SURE = ["✓ A match: the agent did what it was asked.", "✗ No match: the agent did something else."];
const RECORDED = ["✓ A match: a person said the request of this response.", "✗ No match: a person said the request of another response."];
const SAME_WORDS = ["✓ A match: you said just what was asked.", "Other words than those of the request."];
const SOUNDS = ["≈ That sounds like what was asked.", "≈ That does not sound like what was asked."];

function verdict({ matched, saw_request: saw, judged_by: by, asked }) {
  if (saw) {
    const says = "✎ Left out of the matches: you may have seen the request, or a suggestion.";
    return make("p", { class: "verdict" }, says);
  }
  const known = by === "truth" || by === "recording" || (by === "equality" && typeof asked === "number");
  if (known && matched !== null) {
    return make("p", { class: `verdict ${matched ? "good" : "bad"}` }, (by === "recording" ? RECORDED : SURE)[matched ? 0 : 1]);
  }
  const [one, other] = by === "equality" ? SAME_WORDS : SOUNDS;
  const says = matched === null ? "Nobody has said yet whether it did what was asked." : matched ? one : other;
  return make("p", { class: "verdict soft" }, says);
}

function question(judge) {
  const ask = make("p", { class: "verdict judge", role: "group", "aria-label": "Did it do what was asked?" });
  const button = (word, met) => {
    const made = make("button", { type: "button" }, word);
    made.addEventListener("click", () => {
      judge(met);
      ask.replaceChildren("Noted.");
    });
    return made;
  };
  ask.append(make("span", {}, "Did it do what was asked?"), button("Yes", true), button("No", false), button("Cannot tell", null));
  return ask;
}

function second({ agrees }) {
  const how = { true: ", and you agree", false: ", and in another way" }[agrees] ?? "";
  return `Somebody else described it before you${how}. Yours is compared with theirs, and not taught.`;
}

function change({ was_right: was, is_right: is }) {
  if (is === null) return { word: "another answer now", mark: "→" };
  if (is && !was) return { word: "now right", mark: "▲" };
  if (was && !is) return { word: "now wrong", mark: "▼" };
  return { word: is ? "another right answer" : "another answer, still wrong", mark: "→" };
}

function effect({ changes, gained, lost, right, requests, weighed }) {
  const groups = new Map();
  for (const one of changes) {
    const { word, mark } = change(one);
    const line = `${quoted(one.request)} — ${word}`;
    const group = groups.get(line) ?? { line, mark, times: 0 };
    group.times += 1;
    groups.set(line, group);
  }
  const shown = [...groups.values()].slice(0, MOST_LINES);
  const lines = shown.map(({ line, mark, times }) =>
    make(
      "li",
      {},
      make("span", { class: "mark", "aria-hidden": "true" }, mark),
      make("span", {}, times > 1 ? `${line} (${times} times)` : line),
    ),
  );
  // Where the service tells no more, nobody here knows how many there are.
  const cut = changes.length >= MOST_TOLD;
  const rest = changes.length - shown.reduce((sum, { times }) => sum + times, 0);
  const others = cut ? "and others" : `and ${rest} more`;
  if (rest) lines.push(make("li", { class: "soft" }, make("span", { class: "mark" }), others));
  const many = cut ? `${MOST_TOLD} answers or more` : counted(changes.length, "answer");
  // Where none are held out, the latest requests are tried.
  const tried = right === null ? " to the latest requests" : "";
  const title = `${cause(weighed)} changed ${changes.length ? many : "no answer"}${tried}.`;
  if (!changes.length && !requests) return []; // nothing was asked that could change
  const told = right === null ? [] : [achieved(gained, lost, right, requests)];
  return [...told, make("p", { class: "effect soft" }, title), make("ul", { class: "plain changes" }, ...lines)];
}

const cause = (weighed) =>
  weighed
    ? `All sentences were weighed anew (${counted(weighed, "other")} left out or taken back in). That and your sentence`
    : "Your sentence";

// What the sentence has achieved, first and large.
function achieved(gained, lost, right, requests) {
  const more = gained - lost;
  const now = [String(right), make("span", { class: "wide" }, ` of ${requests}`)];
  const both = gained && lost ? make("span", { class: "wide" }, ` (${gained} more, ${lost} fewer)`) : "";
  if (more > 0) return make("p", { class: "achieved good" }, `▲ ${counted(more, "more request")} met`, both, ": now ", ...now);
  if (more < 0) return make("p", { class: "achieved" }, `▼ ${counted(-more, "request")} fewer met`, both, ": now ", ...now);
  const held = make("span", { class: "wide" }, " held-out requests");
  return make("p", { class: "achieved soft" }, ...now, held, ` met, ${gained ? "others than before" : "as before"}`);
}
