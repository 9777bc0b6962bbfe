// Word of everything new in the lesson.

import { lessonPath } from "./api.js";

const AGAIN_SECONDS = 3;
const APART_MS = 400;

// Calls `tell` now and after news, never twice at once and not in quick succession.
export function onNews(tell) {
  let source = null;
  let running = false;
  let again = false;

  const told = async () => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      try {
        await tell();
      } catch {
        // whoever is told says by themselves that the service is away
      }
      await new Promise((done) => setTimeout(done, APART_MS));
    } while (again);
    running = false;
  };

  const listen = () => {
    // A browser has few connections for a site: pages that nobody sees give theirs back.
    if (document.hidden || source) return;
    source = new EventSource(`${lessonPath}/news`);
    source.addEventListener("news", told);
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) {
        source = null;
        told(); // who has been signed out finds out by this
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
  told();
  listen();
}
