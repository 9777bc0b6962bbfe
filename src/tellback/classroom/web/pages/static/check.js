// A blind check: which response does somebody else's description fit?

import { call, lessonPath } from "./api.js";
import { banner, persist } from "./banner.js";
import { byId, make, quoted } from "./dom.js";
import { draw, withFeatures } from "./shown.js";

const POLL_SECONDS = 5;
const main = byId("main");

let check = null;
let open = false; // whether it is still to be picked

async function next() {
  const result = await persist(() => call("POST", `${lessonPath}/checks`));
  byId("nothing").hidden = result.status === 200;
  byId("stage").hidden = result.status !== 200;
  if (result.status !== 200) {
    setTimeout(next, POLL_SECONDS * 1000);
    return;
  }
  check = await persist(() => withFeatures(result.answer));
  open = true;
  byId("quote").textContent = quoted(check.description);
  byId("reveal").replaceChildren();
  byId("next").hidden = true;
  drawAll(new Map());
  main.focus({ preventScroll: true });
}

function drawAll(labels) {
  draw(check, labels, (index, parts) => {
    const button = make(
      "button",
      { type: "button", class: "choice", "aria-disabled": open ? null : "true" },
      ...parts,
      make("span", { class: "place" }, String(index + 1)),
    );
    button.addEventListener("click", () => pick(index));
    return button;
  });
}

async function pick(response) {
  if (!open || response >= check.candidates) return;
  open = false;
  const { round } = check;
  const path = `${lessonPath}/rounds/${round}/check`;
  const { ok, answer, problem } = await persist(() => call("PUT", path, { response }));
  if (!ok) {
    banner(problem?.detail ?? "That was not saved.");
    next();
    return;
  }
  const labels = new Map([[answer.response, { text: "✓ This one", class: "picked" }]]);
  if (!answer.right) labels.set(response, { text: "✗ Your pick", class: "second" });
  drawAll(labels);
  byId("reveal").replaceChildren(
    answer.right
      ? make("p", { class: "big good" }, "✓ Right: the description tells it apart.")
      : make("p", { class: "big unsure" }, `✗ It was number ${answer.response + 1}.`),
  );
  byId("next").hidden = false;
  byId("next").focus();
}

byId("next").addEventListener("click", next);

main.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (/^[1-9]$/.test(event.key)) pick(Number(event.key) - 1);
});

next();
