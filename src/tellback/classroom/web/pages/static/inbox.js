// The inbox of reviewers: rounds in doubt, why, and what to do about them.

import { call, get, instructionFrom, lessonPath } from "./api.js";
import { banner, persist } from "./banner.js";
import { byId, counted, make, quoted } from "./dom.js";
import { wordsFor } from "./shown.js";

function response(one) {
  if (one.images) return make("img", { src: one.images[one.response], alt: wordsFor(one, one.response) });
  if (one.drawing) {
    const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(one.drawing)}`;
    return make("img", { src, alt: "The response" });
  }
  return make("span", {}, one.texts ? one.texts[one.response] : `Response ${one.response + 1} of ${one.candidates}`);
}

async function decide(one, body) {
  const path = `${lessonPath}/rounds/${one.round}/review`;
  const { ok, problem } = await persist(() => call("PUT", path, body));
  banner(ok ? "" : (problem?.detail ?? "That was not saved."));
  await load();
}

function entry(one) {
  const button = (word, body) => {
    const made = make("button", { type: "button" }, word);
    made.addEventListener("click", () => decide(one, body));
    return made;
  };
  const field = make("input", { type: "text", maxlength: 2000, "aria-label": `What round ${one.round} shows` });
  field.value = one.description ?? "";
  const form = make("form", { autocomplete: "off" }, field, make("button", { type: "submit" }, "Correct"));
  form.append(button("Accept", { outcome: "accepted" }));
  // Without accounts there is nobody else.
  if ("others" in byId("inbox").dataset) form.append(button("Send to another", { outcome: "sent" }));
  const problem = make("p", { class: "problem", role: "alert" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.textContent = field.value.trim() ? "" : "Say what it shows, then Correct.";
    if (problem.textContent) field.focus();
    else decide(one, { outcome: "corrected", description: instructionFrom(field.value) });
  });
  const said = one.description === null ? "Not described." : `${one.teacher} said ${quoted(one.description)}`;
  return make(
    "li",
    { class: "card" },
    make("div", { class: "response" }, response(one)),
    make(
      "div",
      {},
      make("strong", {}, said),
      make("span", { class: "soft" }, ` Round ${one.round}`),
      make("ul", { class: "reasons" }, ...one.reasons.map(({ kind, says }) => make("li", {}, `${kind}: ${says}`))),
      form,
      problem,
    ),
  );
}

async function load() {
  const { ok, answer, problem } = await persist(() => get(`${lessonPath}/inbox`));
  if (!ok) {
    banner(problem?.detail ?? "The inbox cannot be read.");
    return;
  }
  byId("inbox").replaceChildren(...answer.rounds.map(entry));
  byId("nothing").hidden = answer.rounds.length > 0;
  byId("count").textContent = counted(answer.rounds.length + answer.more, "round");
}

load();
