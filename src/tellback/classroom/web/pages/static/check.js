// Checks: whether the agent did what was asked, where only people can tell; and blind ones, which
// response somebody else's description fits.

import { call, lessonPath } from "./api.js";
import { banner, persist } from "./banner.js";
import { byId, make, quoted } from "./dom.js";
import { draw, withFeatures } from "./shown.js";

const POLL_SECONDS = 5;
const main = byId("main");

let check = null;
let open = false; // whether it is still to be picked

let judging = null; // the round of which it is asked whether the agent did what was asked

async function next() {
  const result = await persist(() => call("POST", `${lessonPath}/checks`));
  // Afterwards: who has judged a round has seen the pick.
  const toJudge = result.status === 200 ? null : await persist(() => call("POST", `${lessonPath}/judgements`));
  if (toJudge?.status === 200) {
    await askJudgement(toJudge.answer);
    return;
  }
  byId("nothing").hidden = result.status === 200;
  byId("stage").hidden = result.status !== 200;
  if (result.status !== 200) {
    setTimeout(next, POLL_SECONDS * 1000);
    return;
  }
  check = await persist(() => withFeatures(result.answer));
  open = true;
  head("Which one is it?", "Somebody said:", check.description);
  byId("reveal").replaceChildren();
  byId("next").hidden = true;
  if (known) known.hidden = true;
  drawAll(new Map());
  main.focus({ preventScroll: true });
}

function head(title, says, words) {
  byId("title").textContent = title;
  byId("quoted").textContent = says;
  byId("quote").textContent = quoted(words);
  byId("judge").hidden = judging === null;
  byId("keys").hidden = byId("none").hidden = judging !== null;
}

async function askJudgement(answer) {
  judging = answer.round;
  const shown = await persist(() => withFeatures(answer));
  byId("nothing").hidden = true;
  byId("stage").hidden = false;
  byId("next").hidden = true;
  byId("reveal").replaceChildren();
  head("Did it do that?", "It was asked for:", answer.instruction);
  draw(shown, new Map([[shown.response, { text: "➜ Agent’s pick", class: "picked" }]]));
  enable(true);
  main.focus({ preventScroll: true });
}

async function judge(met) {
  if (judging === null) return;
  const path = `${lessonPath}/rounds/${judging}/judgement`;
  judging = null;
  enable(false);
  const { ok, problem } = await persist(() => call("PUT", path, { met }));
  banner(ok ? "" : (problem?.detail ?? "That was not saved."));
  next();
}

function enable(on) {
  for (const button of document.querySelectorAll("[data-met]")) button.disabled = !on;
}

for (const button of document.querySelectorAll("[data-met]")) {
  button.addEventListener("click", () => judge(JSON.parse(button.dataset.met)));
}

function drawAll(labels) {
  draw(check, labels, (index, parts) => {
    const button = make(
      "button",
      { type: "button", class: "choice", "aria-disabled": open ? null : "true" },
      ...parts,
      make("span", { class: "place" }, String(index + 1)),
    );
    button.addEventListener("click", () => pick(index));
    return button;
  });
}

// Null: none of them.
async function pick(response) {
  if (!open || judging !== null || response >= check.candidates) return;
  open = false;
  const { round } = check;
  const path = `${lessonPath}/rounds/${round}/check`;
  const { ok, answer, problem } = await persist(() => call("PUT", path, { response }));
  if (!ok) {
    banner(problem?.detail ?? "That was not saved.");
    next();
    return;
  }
  const labels = new Map([[answer.response, { text: "✓ This one", class: "picked" }]]);
  if (!answer.right && response !== null) labels.set(response, { text: "Your pick", class: "second" });
  drawAll(labels);
  byId("none").hidden = true;
  byId("reveal").replaceChildren(
    answer.right
      ? make("p", { class: "big good" }, "✓ Right: the description tells it apart.")
      : make("p", { class: "big unsure" }, `The description was of number ${answer.response + 1}.`),
  );
  if (known) known.hidden = !answer.right;
  byId("next").hidden = false;
  byId("next").focus();
}

// Reviewers may use a description that was right as a known answer, for other teachers.
const known = byId("known");
known?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { practice, only } = known.elements;
  const body = { answers: [check.description], practice: practice.checked, only: only.checked };
  const { ok, problem } = await persist(() => call("POST", `${lessonPath}/rounds/${check.round}/known`, body));
  banner(ok ? "" : (problem?.detail ?? "That was not saved."));
  if (ok) byId("reveal").append(make("p", {}, whoGetsIt(practice.checked)));
  known.hidden = ok;
});

function whoGetsIt(practice) {
  if (practice) return "Other teachers will get it.";
  return Number(known.dataset.catch)
    ? "Other teachers may get it: such items come at random."
    : "Nobody gets it yet: how many responses are such items is set under Lessons, Manage.";
}

byId("none").querySelector("button").addEventListener("click", () => pick(null));
byId("next").addEventListener("click", next);

main.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const met = { y: true, n: false, c: null }[event.key.toLowerCase()];
  if (judging !== null && met !== undefined) judge(met);
  else if (event.key === "0") pick(null);
  else if (/^[1-9]$/.test(event.key)) pick(Number(event.key) - 1);
});

next();
