// Updates of the lesson, as they happen.

import { lessonPath } from "./api.js";

const AGAIN_SECONDS = 3;
const APART_MS = 400;

// Calls `update` now and after each event: never twice at once, and not in quick succession.
export function onUpdate(update) {
  let source = null;
  let running = false;
  let again = false;

  const updated = async () => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      try {
        await update();
      } catch {
        // `update` says by itself that the service is away
      }
      await new Promise((done) => setTimeout(done, APART_MS));
    } while (again);
    running = false;
  };

  const listen = () => {
    // Browsers allow few connections to a site: hidden pages close theirs.
    if (document.hidden || source) return;
    source = new EventSource(`${lessonPath}/updates`);
    source.addEventListener("update", updated);
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) {
        source = null;
        updated(); // so that the page notices if it was signed out
        setTimeout(listen, AGAIN_SECONDS * 1000);
      }
    });
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else listen();
  });
  addEventListener("pagehide", () => source?.close());
  updated();
  listen();
}
