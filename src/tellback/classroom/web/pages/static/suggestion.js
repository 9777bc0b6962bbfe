// A description that a program proposes: taken by a button, and then edited at will.

import { byId, make, quoted } from "./dom.js";

export function drawSuggestion(suggestion, take) {
  const box = byId("suggestion");
  box.hidden = !suggestion;
  if (!suggestion) return;
  const text = String(suggestion.description);
  const button = make("button", { type: "button", class: "quiet" }, "Use it");
  button.addEventListener("click", () => take(text));
  box.replaceChildren(`${suggestion.by} suggests ${quoted(text)} `, button);
}
