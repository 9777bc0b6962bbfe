// Renaming, archiving and deleting lessons.

import { call } from "./api.js";

const WORD = "delete";

async function send(box, method, path, body) {
  const problem = box.querySelector(".problem");
  problem.textContent = "";
  try {
    const result = await call(method, path, body);
    if (result.ok) location.reload();
    else problem.textContent = result.problem?.detail ?? `The service answered ${result.status}.`;
  } catch {
    problem.textContent = "The service does not answer: nothing was changed.";
  }
}

for (const box of document.querySelectorAll(".manage")) {
  const path = `/api/v1/lessons/${box.dataset.id}`;
  box.querySelector(".rename")?.addEventListener("submit", (event) => {
    event.preventDefault();
    send(box, "PATCH", path, { name: event.target.elements.name.value });
  });
  box.querySelector(".settings")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const { guide, catch: share } = event.target.elements;
    send(box, "PATCH", path, { guide: guide.value, catch: Number(share.value) / 100 });
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
