// Renaming, archiving and deleting lessons.

import { call } from "./api.js";

const WORD = "delete";

const NO_NAME = "A lesson needs a name.";
const NO_SHARE = "How many of 100 responses have a known answer is a whole number from 0 to 50.";
const anew = () => location.reload();

async function send(box, method, path, body, done = anew) {
  const problem = box.querySelector(".problem");
  problem.textContent = "";
  try {
    const result = await call(method, path, body);
    if (result.ok) done();
    else problem.textContent = result.problem?.detail ?? `The service answered ${result.status}.`;
  } catch {
    problem.textContent = "The service does not answer: nothing was changed.";
  }
}

for (const box of document.querySelectorAll(".manage")) {
  const path = `/api/v1/lessons/${box.dataset.id}`;
  box.querySelector(".rename")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = event.target.elements.name.value;
    if (name.trim()) send(box, "PATCH", path, { name });
    else box.querySelector(".problem").textContent = NO_NAME;
  });
  box.querySelector(".settings")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const { guide, catch: share } = event.target.elements;
    const saved = box.querySelector(".saved");
    saved.textContent = "";
    const body = { guide: guide.value, catch: Number(share.value) / 100 };
    if (share.validity.valid) send(box, "PATCH", path, body, () => (saved.textContent = "Saved."));
    else box.querySelector(".problem").textContent = NO_SHARE;
  });
  const archive = box.querySelector(".archive");
  archive.addEventListener("click", () => send(box, "PATCH", path, { archived: archive.dataset.archived === "true" }));
  const form = box.querySelector(".delete");
  if (!form) continue;
  const { word } = form.elements;
  const typed = () => word.value.trim() === WORD;
  word.addEventListener("input", () => {
    form.querySelector("button").disabled = !typed();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (typed()) send(box, "DELETE", `${path}?word=${WORD}`);
  });
}
