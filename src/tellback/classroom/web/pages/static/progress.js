// The progress of a lesson, always up to date.

import { get, lessonPath } from "./api.js";
import { persist } from "./banner.js";
import { chart, chartTable, activePoints } from "./chart.js";
import { byId, counted, make, percent, quoted, setText, shareWords, table } from "./dom.js";
import { onUpdate } from "./updates.js";

const LIGHTS = {
  green: "✓ Green: its bounds held",
  amber: "! Amber: its bounds mostly held",
  red: "✗ Red: its bounds did not hold",
  grey: "○ Grey: nothing contradicts its bounds",
  dark: "– Dark: there is nothing to judge",
};
const STATUSES = {
  open: "open",
  described: "described",
  skipped: "skipped",
  cannot_tell: "could not be told",
  flagged: "flagged",
  rolled_back: "rolled back",
  known: "with known answers",
};

const sentence = (words) => words && `${words[0].toUpperCase()}${words.slice(1)}.`;

let chance = null;

async function findChance(rounds) {
  if (chance !== null || !rounds) return;
  const { ok, answer } = await get(`${lessonPath}/rounds/${rounds}/shown`);
  if (!ok) return;
  // Of paths, nobody knows the chance, nor how sure the agent is: many of them do the same.
  chance = answer.drawing ? 0 : 1 / answer.candidates;
  byId("unsure-box").hidden = Boolean(answer.drawing);
}

let points = [];

function drawCurve() {
  byId("curve-box").hidden = byId("success-box").hidden = !points.length;
  if (!points.length) return;
  byId("success").textContent = `${points.at(-1).right} of ${points.at(-1).requests}`;
  const room = byId("curve-box").clientWidth - 40;
  byId("curve").replaceChildren(chart(points, chance, room));
  byId("curve-table").replaceChildren(chartTable(points));
}

function drawProof(answer) {
  const light = byId("light");
  light.textContent = LIGHTS[answer.light] ?? answer.light;
  light.dataset.light = answer.light;
  setText("light-says", sentence(answer.light_says));
  setText(
    "regret",
    answer.certified_regret === null
      ? "This agent states no bounds of its own, and so certifies no regret."
      : `The regret so far is at most ${answer.certified_regret.toFixed(1)} over ` +
          `${counted(answer.rounds, "round")}, if its bounds hold.`,
  );
  // An agent that states no bounds certifies nothing: then nothing is promised here.
  byId("proof").hidden = answer.light === "dark" && answer.certified_regret === null;
}

// The curve counts what was taught: where that is not all, it is said.
function parts({ described, taught, left_out: doubtful, held_out: held }) {
  if (described === taught) return "";
  const rest = described - taught - doubtful;
  const kept = held ? "held out" : "not understood by the model";
  return [`${taught} taught`, doubtful && `${doubtful} left out as doubtful`, rest > 0 && `${rest} ${kept}`]
    .filter(Boolean)
    .join(", ");
}

const JUDGED = {
  truth: "Of described responses, the share that did what was asked, by the truth.",
  recording: "Of described responses, the share of which a person had said the request, in the recording.",
  equality: "Of descriptions, the share that equal the request.",
  rates: "Of described responses, the share that did what was asked, by a match that errs at times: the interval allows for it.",
  people: "Of described responses, the share that did what was asked, by those that people judged.",
};

// Where the truth of every round is known, there is no interval.
const range = ({ low, high }) => (low < high ? `; ${percent(low)}–${percent(high)}` : "");

function drawMatches({ matches, judged_by: by, match_says: says }) {
  byId("matches").replaceChildren(
    matches ? percent(matches.share) : "–",
    make("small", {}, matches ? `of ${matches.n}${range(matches)}` : ""),
    make("small", {}, !matches && by === "people" ? "not known: too few were judged" : ""),
  );
  setText("matches-are", JUDGED[by]);
  setText("match-says", `Judged ${says}.`);
}

function drawWords(words) {
  setText("words-met", words ? `Held-out requests in words that were said: ${words.right} of ${words.requests} met.` : "");
  const names = words?.unsaid.map(quoted).join(", ");
  const rest = words?.more_unsaid ? ` and ${words.more_unsaid} more` : "";
  setText("words-unsaid", names ? `Nobody has said ${names}${rest}.` : "");
}

// Of own material: what the curve rests on, or when there will be one.
function drawHeldOut(held) {
  if (!held) return;
  const many = counted(held.descriptions, "description");
  const share = `${percent(held.share)} of the rounds, drawn at random beforehand, are held out and not taught: ${many} so far. `;
  const right =
    "A request is met if the agent picks the very response that was described. Others may fit, too, so the share is cautious. " +
    "In other rounds somebody may have said the same of that response.";
  const wait = held.share ? `There is a curve from ${held.needed} on.` : "Nothing is held out, so there is no curve.";
  setText("held-out", share + (held.descriptions >= held.needed ? right : wait));
}

function drawUnsure({ unsure, held_out: held }) {
  // Where requests are never held out, the latest ones are tried.
  const few = held ? "There are too few held-out requests to try." : "None of the latest requests that left it a choice.";
  const lines = unsure.map(({ request, says }) =>
    make("li", {}, make("strong", {}, quoted(request)), make("br"), make("span", { class: "soft" }, says)),
  );
  byId("unsure").replaceChildren(
    ...(lines.length ? lines : [make("li", {}, points.length ? "None: it is sure of all of them." : few)]),
  );
}

const TEACHER_HEADS = ["Name", "Descriptions", "Requests met", "Agreed as second", "Right (95% interval)"];

function drawTeachers({ teachers, agreement, alpha, checks }) {
  const rows = teachers.map((one) => [
    one.name,
    one.described,
    one.counted ? `${one.matched} of ${one.counted}` : "–",
    one.second ? `${one.agreed} of ${one.second}` : "–",
    one.reliability
      ? `${percent(one.reliability.share)} (${percent(one.reliability.low)} to ${percent(one.reliability.high)})`
      : "–",
  ]);
  byId("teachers").replaceChildren(
    rows.length
      ? table("What each teacher has done", TEACHER_HEADS, rows)
      : make("p", {}, "Nobody has described anything yet."),
  );
  setText(
    "agreement",
    agreement
      ? `Second, independent descriptions agreed with the first: ${shareWords(agreement)}.`
      : "There are no second, independent descriptions that can be compared for sure.",
  );
  if (alpha !== null) byId("agreement").append(` Krippendorff’s alpha: ${alpha.toFixed(2)}.`);
  setText(
    "checks",
    checks
      ? `Blind checks that found the response by its description: ${shareWords(checks)}.`
      : "There were no blind checks yet.",
  );
}

onUpdate(async () => {
  const { ok, answer, problem } = await persist(() => get(`${lessonPath}/progress`));
  if (!ok) {
    setText("banner", problem?.detail ?? "The progress cannot be shown.");
    return;
  }
  await findChance(answer.rounds);
  byId("described").replaceChildren(String(answer.described), make("small", {}, parts(answer)));
  drawMatches(answer);
  drawWords(answer.words);
  drawHeldOut(answer.held_out);
  points = activePoints(answer.curve);
  drawProof(answer);
  drawUnsure(answer);
  drawTeachers(answer);
  const statuses = Object.entries(answer.statuses).map(([name, n]) => `${n} ${STATUSES[name] ?? name}`);
  setText("statuses", `${counted(answer.rounds, "response")}: ${statuses.join(", ")}.`);
  byId("all").hidden = false;
  drawCurve();
});

addEventListener("resize", drawCurve);
