// Teaching: what the agent picked is shown, and a person says what it is.

import { call, get, instructionFrom, lessonPath } from "./api.js";
import { banner, persist } from "./banner.js";
import { activePoints, spark } from "./chart.js";
import { byId, counted, make, quoted, setText } from "./dom.js";
import { draftOf, keep, keepDraft, recall } from "./memory.js";
import { onUpdate } from "./updates.js";
import { Outbox } from "./outbox.js";
import {
  answerOf, clearQuestion, dismiss, drawQuestion, hasAsked, laterQuestion, laterSays, questionAbout,
} from "./question.js";
import { drawPractice, drawReveal } from "./reveal.js";
import { draw, inBrief, withFeatures, wordsFor } from "./shown.js";
import { drawSuggestion } from "./suggestion.js";

const POLL_SECONDS = 2;
const MOST_DONE = 20;
const LEASE_SECONDS = Number(document.body.dataset.lease);
const ENDED = { skipped: "Skipped.", cannot_tell: "You could not tell.", flagged: "Flagged." };
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

const QUESTION = byId("question").textContent;
const PRACTICE = "Practice: say what it is, and you are told what one would say";

const main = byId("main");
const stage = byId("stage");
const said = byId("said");
const after = byId("after");
const answers = [...document.querySelectorAll("[data-answer]")]; // buttons, where nothing is typed
const ready = () => (answers.length ? main.focus({ preventScroll: true }) : said.focus());

let current = null; // the response that is to be described
let turn = 0; // counts what was shown, so that an answer that comes late is not
let mayAsk = false; // whether an earlier description has become doubtful
let checking = null; // the response of which it is found out whether to ask a question
let problem = null; // why what was said of a round was refused

// --- What was done, so that it can be undone -----------------------------------------------

const done = () => recall("done", []);

function keepDone(entries) {
  keep("done", entries.slice(-MOST_DONE));
  drawUndo();
}

const lastOf = (round) => {
  const last = done().at(-1);
  return last?.round === round ? last : null;
};

function drawUndo() {
  for (const button of document.querySelectorAll("[data-does=undo]")) {
    button.disabled = !done().length;
  }
}

// --- The next response -----------------------------------------------------------------------

async function next() {
  const mine = ++turn;
  const again = mayAsk ? await laterQuestion() : null;
  mayAsk = false;
  if (mine !== turn) return;
  if (again) {
    show(again);
    return;
  }
  const claimed = await persist(
    () => call("POST", `${lessonPath}/claims`),
    () => mine === turn,
  );
  if (mine !== turn || !claimed) return;
  if (claimed.status !== 200) {
    wait(claimed.problem?.detail ?? "There is nothing to describe just now. The next one will appear here.");
    setTimeout(() => mine === turn && next(), POLL_SECONDS * 1000);
    return;
  }
  const shown = await persist(() => withFeatures(claimed.answer));
  if (mine === turn && shown) show(shown);
}

function wait(says) {
  current = null;
  stage.hidden = true;
  if (byId("nothing").textContent !== says) setText("nothing", says);
}

function show(shown) {
  ++turn;
  current = shown;
  const mark = shown.candidates > 1 ? "➜ Agent’s pick" : "➜ What was done";
  const pick = [shown.response, { text: mark, class: "picked" }];
  draw(shown, new Map(shown.drawing ? [] : [pick]));
  setText("nothing", "");
  said.value = shown.again ? shown.description : draftOf(shown.round);
  if (shown.again) drawQuestion(laterSays(shown));
  else clearQuestion();
  said.readOnly = false;
  drawSuggestion(shown.suggestion, take);
  setText("problem", problem?.round === shown.round ? problem.says : "");
  problem = null;
  stage.hidden = false;
  stage.dataset.round = shown.round;
  setText("question", shown.practice ? PRACTICE : QUESTION);
  if (shown.drawing) {
    setText("question", "Where did the agent go?");
    setText("ask", "Where to? In your own words");
  }
  byId("says").textContent = shown.drawing
    ? "The agent has walked: its path is on the floor plan."
    : `The agent picked ${wordsFor(shown, shown.response)}.`;
  if (!byId("change").contains(document.activeElement)) ready();
  if (shown.again) said.select();
}

function take(text) {
  current.took = true;
  said.value = text;
  keepDraft(current.round, text);
  said.focus();
}

// --- What the person does ----------------------------------------------------------------------

const outbox = new Outbox({
  answered,
  trouble(says) {
    banner(says);
    const [item] = outbox.items;
    if (current || !item) return;
    stage.hidden = true;
    drawAfter(make("p", {}, item.text ? `Kept: ${quoted(item.text)}` : "Kept."), { undo: true });
    if (document.activeElement === document.body) main.focus();
  },
  drained() {
    banner("");
    if (!current) next();
  },
});

async function submit(kind, text = said.value) {
  if (!current || checking === current) return;
  const { round } = current;
  if (kind === "described" && !text.trim()) {
    setText("problem", "Say something, or skip it.");
    return;
  }
  if (current.again && kind !== "described") {
    dismiss(current);
    current = null;
    next();
    return;
  }
  if (kind === "described" && !hasAsked(current)) {
    const shown = (checking = current);
    said.readOnly = true;
    const asked = await questionAbout(shown, text);
    checking = null;
    if (current !== shown) return;
    said.readOnly = false;
    if (asked) {
      drawQuestion(asked.says);
      said.select();
      return;
    }
  }
  const answer = kind === "described" ? { ...answerOf(current), ...tookOf(current) } : {};
  clearQuestion();
  // A round is undone once, however often it was described.
  const others = done().filter((one) => one.round !== round);
  keepDone([...others, { round, kind, text, shown: current, reached: false }]);
  keepDraft(round, "");
  setText("problem", "");
  current = null;
  said.readOnly = true;
  outbox.add({ kind, round, text, description: instructionFrom(text), answer });
}

function undo() {
  const entries = done();
  const last = entries.pop();
  if (!last) return;
  keepDone(entries);
  keepDraft(last.round, last.text);
  const reached = outbox.takeOut(last.round) || last.reached;
  if (reached) outbox.add({ kind: "withdrawn", round: last.round, text: last.text });
  closeChange();
  drawAfter(make("p", {}, "Taken back: the agent never knew."), {});
  show({ ...last.shown, again: false }); // nothing is left to ask about
}

function change(text) {
  const entries = done();
  const last = entries.pop();
  if (!last || !text.trim()) return;
  keepDone([...entries, { ...last, text }]);
  const answer = tookOf(last.shown);
  outbox.add({ kind: "described", round: last.round, text, description: instructionFrom(text), answer });
}

// Whether the words began as a suggestion.
const tookOf = (shown) => (shown?.took ? { took_suggestion: true } : {});

// --- What became of it ---------------------------------------------------------------------------

function answered(item, { ok, status, answer, problem: reason }) {
  if (!ok) refused(item, status, reason);
  else if (item.kind !== "withdrawn") reached(item, answer);
}

function reached(item, answer) {
  keepDone(done().map((one) => (one.round === item.round ? { ...one, reached: true } : one)));
  const shown = lastOf(item.round)?.shown;
  if (!shown) return; // it was undone meanwhile
  if (item.kind === "described") mayAsk = answer.questions > 0 && !item.answer?.sure;
  if (answer.practice) {
    drawAfter(drawPractice(item.text, answer.practice), { shown });
  } else if (item.kind === "described" && answers.length && answer.matched === null) {
    drawAfter(make("p", {}, `You said ${quoted(item.text)}.`), { shown, undo: true }); // to a question
  } else if (item.kind === "described") {
    const told = drawReveal(item.text, answer, (met) => judge(item.round, met));
    drawAfter(told, { shown, undo: true, change: !answers.length });
  } else drawAfter(make("p", {}, ENDED[item.kind]), { shown, undo: true });
}

function judge(round, met) {
  call("PUT", `${lessonPath}/rounds/${round}/judgement`, { met }).catch(() => banner("That was not saved."));
  ready();
}

function refused(item, status, reason) {
  const says = reason?.detail ?? `The service answered ${status}.`;
  if (item.kind === "withdrawn") {
    setAside(item.text, `It was not taken back. ${says}`);
    keepDraft(item.round, "");
    if (current?.round === item.round) current = null;
    return;
  }
  const last = lastOf(item.round);
  if (!last?.reached) {
    keepDone(done().filter((one) => one.round !== item.round));
    after.hidden = true;
  }
  if (status === 422) {
    problem = { round: item.round, says };
    keepDraft(item.round, item.text);
  } else setAside(item.text, says);
}

// Words that cannot be sent any more are not thrown away: their author may want them.
function setAside(text, says) {
  keep("aside", [...recall("aside", []), { text, says }].slice(-MOST_DONE));
  drawAside();
}

function drawAside() {
  const kept = recall("aside", []);
  const list = byId("aside");
  list.hidden = !kept.length;
  list.replaceChildren(
    ...kept.map(({ text, says }, index) => {
      const dismiss = make("button", { type: "button", class: "quiet" }, "Dismiss");
      dismiss.addEventListener("click", () => {
        keep("aside", recall("aside", []).toSpliced(index, 1));
        drawAside();
        ready();
      });
      const words = text ? make("p", {}, `You had written: ${quoted(text)}`) : "";
      return make("li", {}, make("p", { role: "status" }, says), words, dismiss);
    }),
  );
}

// With what was shown: by now the stage shows the next one.
function drawAfter(content, { shown = null, undo = false, change = false }) {
  closeChange();
  byId("described").replaceChildren(...(shown ? [inBrief(shown)] : []));
  byId("reveal").replaceChildren(content);
  byId("undo-this").hidden = !undo;
  byId("change-this").hidden = !change;
  byId("judged").hidden = !change;
  byId("after-actions").hidden = !undo && !change;
  after.hidden = false;
}

// --- Changing what was said ------------------------------------------------------------------

function openChange() {
  const last = done().at(-1);
  if (!last) return;
  byId("change").hidden = byId("change-note").hidden = false;
  byId("changed").value = last.text;
  byId("changed").focus();
  after.scrollTop = 0;
}

function closeChange() {
  const had = byId("change").contains(document.activeElement);
  byId("change").hidden = byId("change-note").hidden = true;
  if (had) ready();
}

byId("change-this").addEventListener("click", openChange);
byId("leave-it").addEventListener("click", closeChange);
byId("change").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("changed").value;
  closeChange();
  if (text !== done().at(-1)?.text) change(text);
});
byId("changed").addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeChange();
});

// --- Typing and keys ---------------------------------------------------------------------------

byId("describe").addEventListener("submit", (event) => {
  event.preventDefault();
  submit("described");
});

let renewed = Date.now();

said.addEventListener("input", () => {
  if (!current) return;
  keepDraft(current.round, said.value);
  const apart = 1000 * Math.min(30, LEASE_SECONDS / 3);
  if (Date.now() - renewed < apart) return;
  renewed = Date.now();
  renew(current.round);
});

async function renew(round) {
  const result = await call("PUT", `${lessonPath}/rounds/${round}/claim`).catch(() => null);
  if (result?.status !== 404 || current?.round !== round) return;
  setAside(said.value, "This response went to somebody else, because it had waited for long.");
  keepDraft(round, "");
  next();
}

const keyed = new Map(); // what each key does

function bind(button, key, does) {
  button.addEventListener("click", does);
  keyed.set(key, does);
  if (!IS_MAC) button.setAttribute("aria-keyshortcuts", `Alt+${key.toUpperCase()}`);
}

for (const button of document.querySelectorAll("[data-does]")) {
  const what = button.dataset.does;
  bind(button, button.dataset.key, () => (what === "undo" ? undo() : submit(what)));
}
for (const [index, button] of answers.entries()) {
  const { answer } = button.dataset;
  const letter = answer[0].toLowerCase();
  const key = /[a-z]/.test(letter) && !keyed.has(letter) ? letter : String(index + 1);
  bind(button, key, () => submit("described", answer));
  button.append(make("kbd", { "aria-hidden": "true" }, key.toUpperCase()));
}
byId("undo-this").addEventListener("click", undo);
if (IS_MAC && !answers.length) {
  byId("keys").replaceChildren("Keys: ", make("kbd", {}, "Esc"), " and then the letter.");
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.repeat || event.ctrlKey || event.metaKey) return;
  const { target } = event;
  const typing = target instanceof HTMLInputElement;
  if (event.altKey) {
    // On a Mac these type letters.
    const does = IS_MAC ? null : keyed.get(event.code.replace(/Key|Digit/, "").toLowerCase());
    if (!does) return;
    event.preventDefault();
    does();
  } else if (event.key === "Escape" && target === said) {
    main.focus({ preventScroll: true });
  } else if ((event.key === "Escape" || event.key === "Enter") && target === main) {
    event.preventDefault();
    ready();
  } else if (!typing && main.contains(target) && keyed.has(event.key.toLowerCase())) {
    // Single letters count only within the main part: speech input and screen readers must not
    // trigger them elsewhere.
    event.preventDefault();
    keyed.get(event.key.toLowerCase())();
  }
});

// What was described in another tab is not shown any longer in this one.
addEventListener("storage", () => {
  drawUndo();
  if (!current || current.again || !done().some((one) => one.reached && one.round === current.round)) return;
  if (said.value.trim()) setAside(said.value, "You described this one in another tab.");
  current = null;
  next();
});

// --- How it goes -----------------------------------------------------------------------------------

onUpdate(async () => {
  const { ok, answer } = await get(`${lessonPath}/curve`);
  if (!ok) return;
  byId("count").textContent = counted(answer.described, "description");
  byId("match-says").textContent = answer.match_says;
  const points = activePoints(answer.curve);
  byId("spark").replaceChildren(...(points.length > 1 ? [spark(points)] : []));
  const last = points.at(-1);
  byId("success").replaceChildren(
    ...(last ? [`${last.right} of ${last.requests}`, make("span", { class: "wide" }, " requests"), " met"] : heldOut(answer.held_out)),
  );
  setText("words", answer.words ? wordsSaid(answer.words) : "");
  if (!byId("nothing").hidden && !current && !outbox.items.length) next();
});

// Of own material, until there is a curve.
const heldOut = (held) => (held?.share ? [`${held.descriptions} of ${held.needed} held out`] : []);

const MOST_NAMED = 5;

function wordsSaid({ right, requests, unsaid }) {
  const met = `Requests in words that were said: ${right} of ${requests} met.`;
  const rest = unsaid.length > MOST_NAMED ? " …" : "";
  const names = unsaid.slice(0, MOST_NAMED).map(quoted).join(", ");
  return unsaid.length ? `${met} Nobody has said ${names}${rest}` : met;
}

drawUndo();
drawAside();
outbox.send();
