// Local storage of a page, for one account and one lesson.

import { account, lesson } from "./api.js";

const PREFIX = `tellback:${account}:${lesson}:`;
const MOST_DRAFTS = 50;
const fallback = new Map(); // where storage is forbidden or full

export function recall(name, otherwise) {
  try {
    const kept = fallback.get(name) ?? localStorage.getItem(PREFIX + name);
    return kept === null || kept === undefined ? otherwise : JSON.parse(kept);
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(PREFIX + name, text);
    fallback.delete(name);
  } catch {
    fallback.set(name, text);
  }
}

export const draftOf = (round) => recall("drafts", {})[round] ?? "";

export function keepDraft(round, text) {
  const drafts = recall("drafts", {});
  delete drafts[round];
  if (text) drafts[round] = text;
  const rounds = Object.keys(drafts); // in ascending order, as integer keys are
  for (const old of rounds.slice(0, Math.max(0, rounds.length - MOST_DRAFTS))) delete drafts[old];
  keep("drafts", drafts);
}
