// Calls to the service. A problem document is an answer; only an unreachable service is an error.

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

export const account = meta("account");
export const lesson = document.body.dataset.lesson;
export const lessonPath = `/api/v1/lessons/${lesson}`;

export class Unreachable extends Error {
  constructor(says, wait = 0) {
    super(says);
    this.wait = wait; // seconds that the service asked for
  }
}

const OFFLINE = "You are offline; what you typed is kept and will be sent.";
const AWAY = "The service does not answer just now; what you typed is kept and will be sent.";
const WAIT_SECONDS = 20;

export async function call(method, path, body) {
  let response;
  // If another account signed in in this browser, this page must not act for it.
  const headers = { Accept: "application/json, application/problem+json", "Tellback-Account": account };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer = null;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(WAIT_SECONDS * 1000),
    });
    const text = await response.text();
    if (text && response.status < 500) answer = JSON.parse(text);
  } catch {
    throw new Unreachable(navigator.onLine ? AWAY : OFFLINE);
  }
  const { status } = response;
  if (status >= 500 || status === 429) {
    throw new Unreachable(AWAY, Number(response.headers.get("Retry-After")) || 0);
  }
  if (status === 401) {
    signIn();
    throw new Unreachable("You are signed out; what you typed is kept and will be sent.");
  }
  if (answer?.code === "other_account" && reloadOnce()) throw new Unreachable(AWAY);
  if (response.ok) {
    sessionStorage.removeItem("tellback:reloaded");
    return { ok: true, status, answer, problem: null };
  }
  return { ok: false, status, answer: null, problem: answer };
}

export const get = (path) => call("GET", path);

function signIn() {
  location.assign(`/login?next=${encodeURIComponent(location.pathname)}`);
}

// A fresh page belongs to the account that is signed in now.
function reloadOnce() {
  if (sessionStorage.getItem("tellback:reloaded")) return false;
  sessionStorage.setItem("tellback:reloaded", "yes");
  location.reload();
  return true;
}

export function instructionFrom(text) {
  const most = document.body.dataset.instructions;
  if (!most) return text;
  return /^\s*\d+\s*$/.test(text) ? Number(text) : text;
}
