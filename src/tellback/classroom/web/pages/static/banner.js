// A line that says what is wrong, until it is not.

import { Unreachable } from "./api.js";
import { setText } from "./dom.js";

export const banner = (says) => setText("banner", says);

// Do something that needs the service, again and again until it answers.
export async function persist(work, stillWanted = () => true) {
  for (let seconds = 1; ; seconds = Math.min(2 * seconds, 15)) {
    try {
      const result = await work();
      banner("");
      return result;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      banner(error.message);
      await pause(Math.max(seconds, error.wait));
      if (!stillWanted()) return null;
    }
  }
}

function pause(seconds) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      done();
    };
    const timer = setTimeout(end, 1000 * seconds);
    addEventListener("online", end);
  });
}
