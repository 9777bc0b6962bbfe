// Responses as people see them: pictures, texts, or cards with numbers.

import { get, lessonPath } from "./api.js";
import { byId, make, setText } from "./dom.js";

const MOST = 24;

// The responses to draw: of very many the first few, and always the `wanted`.
function drawn(count, wanted) {
  const first = [...Array(Math.min(count, MOST)).keys()];
  for (const index of wanted) if (index >= MOST && index < count) first.push(index);
  return first;
}

function kindOf(shown) {
  if (shown.drawing) return "drawing";
  if (shown.form) return shown.form; // strips or steps
  return shown.images ? "pictures" : "words";
}

export const placeOf = (shown, index) =>
  `${shown.form === "strips" ? "strip" : shown.images ? "picture" : "response"} ${index + 1} of ${shown.candidates}`;

export function wordsFor(shown, index) {
  const place = placeOf(shown, index);
  return shown.images || !shown.texts ? place : `${place}: ${shown.texts[index]}`;
}

// Pictures are loaded once, however often the responses are drawn: they may not come twice.
let pictures = new Map();

function picture(shown, index) {
  const src = shown.images[index];
  if (pictures.has(src)) return pictures.get(src);
  const strip = shown.form === "strips";
  const alt = `${strip ? "Strip" : "Picture"} ${index + 1} of ${shown.candidates}`;
  const image = make("img", strip ? { src, alt, class: "frames" } : { src, alt, width: 200, height: 200 });
  image.addEventListener("error", () => {
    addEventListener("online", () => image.setAttribute("src", src), { once: true });
  });
  pictures.set(src, image);
  return image;
}

// A path that draws itself, or that is there at once for those who want no motion. It is shown as a
// picture, in which nothing can run.
function drawing(text, still = matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml");
  if (still) {
    for (const moving of svg.querySelectorAll("animate, animateMotion")) moving.remove();
  }
  const code = encodeURIComponent(new XMLSerializer().serializeToString(svg));
  const alt = svg.querySelector("polyline") ? "A path on a floor plan" : "A floor plan";
  const names = [...svg.querySelectorAll("g > title")].map((title) => title.textContent);
  return [
    make("img", { src: `data:image/svg+xml;charset=utf-8,${code}`, alt, class: "drawing" }),
    make("span", { class: "legend" }, `On the plan: ${names.join(", ")}.`),
  ];
}

// Many steps scroll within their box, by keys too.
const MOST_STEPS = 6;

function steps(text) {
  const lines = text.split("\n").map((step) => make("li", {}, step));
  return make("ol", { class: "text steps", tabindex: lines.length > MOST_STEPS ? "0" : null }, ...lines);
}

function inside(shown, index) {
  if (shown.drawing) return drawing(shown.drawing);
  if (shown.images) {
    const image = picture(shown, index);
    const text = shown.texts?.[index];
    return text ? [image, make("span", { class: "text" }, text)] : [image];
  }
  if (shown.texts && shown.form === "steps") return [steps(shown.texts[index])];
  if (shown.texts) return [make("span", { class: "text" }, shown.texts[index])];
  const numbers = shown.features?.[index];
  const card = [make("span", { class: "number" }, `Response ${index + 1}`)];
  if (numbers) {
    const text = numbers.map((number) => number.toFixed(2)).join("  ");
    card.push(make("span", { class: "features" }, text));
  }
  return card;
}

// The response of a round once more, small: of words, one line.
export function inBrief(shown) {
  const { drawing: drawn, images, texts, response } = shown;
  if (!drawn && !images) return make("p", {}, texts ? texts[response].replaceAll("\n", " · ") : wordsFor(shown, response));
  const src = drawn ? drawing(drawn, true)[0].src : images[response];
  const image = make("img", { src, alt: drawn ? "The path you described" : `You described ${placeOf(shown, response)}` });
  image.addEventListener("error", () => image.remove());
  return image;
}

// Where nothing else is shown, the first of the numbers that the agent sees.
export async function withFeatures(shown) {
  if (shown.images || shown.texts || shown.features || shown.drawing) return shown;
  const { ok, answer } = await get(`${lessonPath}/rounds/${shown.round}/shown`);
  return ok ? { ...shown, features: answer.features } : shown;
}

// `labels` names some of them; `wrap` may make each a button.
export function draw(shown, labels, wrap = null) {
  const list = byId("candidates");
  const before = pictures;
  pictures = new Map((shown.images ?? []).filter((src) => before.has(src)).map((src) => [src, before.get(src)]));
  const wanted = [...labels.keys()];
  list.dataset.kind = kindOf(shown);
  list.replaceChildren(
    ...drawn(shown.candidates, wanted).map((index) => {
      const label = labels.get(index);
      const parts = inside(shown, index);
      if (label) parts.push(make("span", { class: "label" }, label.text));
      const classes = label ? `candidate ${label.class}` : "candidate";
      return make("li", { class: classes }, ...(wrap ? [wrap(index, parts)] : parts));
    }),
  );
  const left = shown.candidates - list.children.length;
  if (left > 0) list.append(make("li", { class: "more" }, `and ${left} more`));
  setText("context", shown.context ?? "");
}
