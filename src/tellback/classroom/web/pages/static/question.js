// Gentle questions: about a description before it is sent, and about an earlier one.

import { call, instructionFrom, lessonPath } from "./api.js";
import { byId, make, quoted, setText } from "./dom.js";
import { withFeatures } from "./shown.js";

const line = byId("really");
const LONGEST_MS = Number(line.dataset.longestMs); // a question is never worth waiting for
const dismissed = new Set();

let asked = null; // the round that was asked about, and what had been said of it

const soon = (promise) =>
  Promise.race([
    promise.catch(() => null),
    new Promise((resolve) => {
      setTimeout(() => resolve(null), LONGEST_MS);
    }),
  ]);

// What is sent with the description: whether its teacher was asked.
export function answerOf(shown) {
  if (shown.again) return { sure: true };
  return asked?.round === shown.round ? { sure: true, first: asked.first } : {};
}

export const hasAsked = (shown) => Boolean(answerOf(shown).sure);

// The question about what is typed; null if there is none, or if it does not come soon.
export async function questionAbout(shown, text) {
  if (!line.dataset.doubt || hasAsked(shown)) return null;
  const description = instructionFrom(text);
  const path = `${lessonPath}/rounds/${shown.round}/question`;
  const result = await soon(call("POST", path, { description }));
  if (result?.status !== 200) return null;
  asked = { round: shown.round, first: description };
  return result.answer;
}

export function drawQuestion(says) {
  line.replaceChildren(make("strong", {}, says), " Enter: yes, keep it. Or type what it is.");
  line.hidden = false;
}

export function clearQuestion() {
  setText("really", "");
}

// A question about an earlier description, as a response to describe again; null if there is none.
export async function laterQuestion() {
  const result = await soon(call("POST", `${lessonPath}/questions`));
  if (result?.status !== 200 || dismissed.has(result.answer.round)) return null;
  return { ...(await withFeatures(result.answer)), again: true };
}

export const laterSays = ({ description, looks_like: looks }) =>
  `Earlier you said ${quoted(description)} of this one.` +
  (looks === null ? " Really?" : ` Really? It looks like what was called ${quoted(looks)}.`);

export function dismiss({ round }) {
  dismissed.add(round);
}
