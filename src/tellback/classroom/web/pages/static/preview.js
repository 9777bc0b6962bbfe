// Preview: what the agent would do, how sure it is, and its second choice.

import { call, get, instructionFrom, lessonPath } from "./api.js";
import { persist } from "./banner.js";
import { byId, counted, figure, make, quoted, setText } from "./dom.js";
import { draw, placeOf, wordsFor } from "./shown.js";

const request = byId("request");
const NONE = new Map();

let latest = 0;
let shown = null;
let turn = 0;

async function look(round) {
  const mine = ++turn;
  const result = await persist(() => get(`${lessonPath}/rounds/${round}/shown`));
  if (mine !== turn) return;
  if (!result.ok) {
    setText("problem", result.problem?.detail ?? "These responses cannot be shown.");
    return;
  }
  shown = result.answer;
  byId("stage").hidden = false;
  byId("newest").hidden = round === latest;
  byId("older").disabled = latest < 2;
  if (shown.drawing) setText("older", "Another house");
  draw(shown, NONE);
  if (byId("preview").childElementCount && request.value.trim()) preview();
}

async function preview() {
  const wanted = request.value;
  if (!wanted.trim() || !shown) {
    setText("problem", "Type a request.");
    return;
  }
  const mine = ++turn;
  const body = { instruction: instructionFrom(wanted), round: shown.round };
  const result = await persist(() => call("POST", `${lessonPath}/preview`, body));
  if (mine !== turn) return;
  setText("problem", result.ok ? "" : (result.problem?.detail ?? "That did not work."));
  if (result.ok) drawPreview(wanted, result.answer);
}

function drawPreview(wanted, preview) {
  const { sure, second, drawing } = preview;
  if (drawing) {
    draw({ ...shown, drawing }, NONE);
    drawCard(wanted, preview, pathWords(preview));
    return;
  }
  const several = preview.answer === "several";
  const labels = new Map([
    [preview.response, { text: sure ? "➜ Its choice" : several ? "➜ Fits" : "? Its best guess", class: "picked" }],
  ]);
  if (several) {
    for (const other of preview.fitting.slice(1)) labels.set(other, { text: "Fits, too", class: "second" });
  } else if (second) labels.set(second.response, { text: "2nd choice", class: "second" });
  draw(shown, labels);
  const says = sure ? preview.says : preview.says.replace(/^(I don't know yet|Several fit): /, "");
  const picks = `➜ It would pick ${placeOf(shown, preview.response)}.`;
  drawCard(wanted, preview, [
    make("p", { class: sure || several ? "big" : "big unsure" }, sure ? picks : several ? "➜ Several fit." : "? I don’t know yet."),
    make("p", {}, sure ? says : says.charAt(0).toUpperCase() + says.slice(1)),
    ...numbersOf(preview),
  ]);
}

function drawCard(wanted, { learned }, parts) {
  byId("preview").replaceChildren(
    make(
      "div",
      { class: "card" },
      make("p", { class: "soft" }, `For the request ${quoted(wanted)}`),
      ...parts,
      make("p", { class: "soft" }, `It has learned from ${counted(learned, "description")}.`),
    ),
  );
}

// Many paths do the same, so the second best says nothing of how sure it is of the best.
function pathWords({ learned }) {
  return [
    make("p", { class: "big" }, "It would go like this."),
    make("p", {}, learned ? "Of the paths that it could think of, this one fits best." : "Nothing was described to it yet, so this is any path."),
  ];
}

function numbersOf(preview) {
  const rows = [["First", preview], ...(preview.second ? [["Second", preview.second]] : [])];
  return [
    make("p", {}, comparison(preview)),
    make("dl", { class: "options" }, ...rows.map(([word, option]) => optionOf(word, option))),
    make(
      "p",
      { class: "soft" },
      "The estimate is how likely it thinks a teacher would say just these words of a " +
        "response; of a long sentence that is little. The bonus is what it would add to try a " +
        "response it knows little about.",
    ),
  ];
}

function comparison({ estimate, second }) {
  if (!second) return "";
  const times = estimate / second.estimate;
  if (!(second.estimate > 0) || !(estimate > 0)) return "";
  const ratio = times >= 100 ? "more than 100" : times.toFixed(1);
  return `By its estimates that fits ${ratio} times as well as ${placeOf(shown, second.response)}.`;
}

function optionOf(word, { response, estimate, bonus }) {
  const words = wordsFor(shown, response);
  return make(
    "div",
    {},
    make("dt", {}, `${word} choice`),
    make("dd", {}, words.charAt(0).toUpperCase() + words.slice(1)),
    make("dd", { class: "numbers" }, `estimate ${figure(estimate)} · bonus ${figure(bonus)}`),
  );
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  preview();
});
// Back through the rounds, and from the first to the latest again.
byId("older").addEventListener("click", () => look(shown.round > 1 ? shown.round - 1 : latest));
byId("newest").addEventListener("click", () => look(latest));

const found = await persist(() => get(lessonPath));
latest = found.ok ? found.answer.rounds : 0;
if (latest) {
  await look(latest);
  request.focus();
} else byId("nothing").hidden = false;
