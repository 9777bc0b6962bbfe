// A lesson of one's own material: pictures are scaled down here, and sent without their names.

import { account } from "./api.js";
import { byId, counted, setText } from "./dom.js";

const drop = byId("drop");
const MOST = Number(drop.dataset.pictures);
const MOST_FRAMES = Number(drop.dataset.frames);
const SIDE = Number(drop.dataset.side);
const PICTURE = /\.(png|jpe?g|webp)$/i;
const FILE = /\.(csv|jsonl)(\.gz)?$/i;
const WAIT_SECONDS = 600;

let chosen = null; // { files: [{ folder, file }] } or { file }

// --- What was dropped or chosen ------------------------------------------------------------------

async function inFolder(entry, folder) {
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return found;
    for (const one of some) found.push(...(await inEntry(one, folder)));
    if (found.length > MOST + 1) return found; // too many anyway
  }
}

async function inEntry(entry, folder) {
  if (entry.isDirectory) return inFolder(entry, `${folder}/${entry.name}`);
  const file = await new Promise((done, failed) => entry.file(done, failed));
  return [{ folder, file }];
}

async function dropped(items) {
  // Entries must be taken before anything is waited for.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const found = [];
  for (const entry of entries) {
    found.push(...(entry.isDirectory ? await inFolder(entry, entry.name) : await inEntry(entry, "")));
  }
  choose(found, entries[0]?.name ?? "");
}

function choose(found, name) {
  const visible = found.filter(({ file }) => !file.name.startsWith("."));
  const pictures = visible.filter(({ file }) => PICTURE.test(file.name));
  const table = visible.find(({ file }) => FILE.test(file.name));
  setText("problem", "");
  chosen = null;
  if (pictures.length > MOST) setText("problem", `There may be at most ${MOST} pictures.`);
  else if (pictures.length > 1) {
    const order = (one) => `${one.folder}/${one.file.name}`;
    pictures.sort((one, other) => (order(one) < order(other) ? -1 : 1));
    chosen = { files: pictures };
    setText("found", `${counted(pictures.length, "picture")} found.`);
  } else if (table) {
    chosen = { file: table.file };
    setText("found", `${table.file.name}, ${Math.ceil(table.file.size / 1024)} KB.`);
  } else setText("problem", "There are no pictures (PNG, JPEG, WebP), no CSV table and no recording in it.");
  byId("make").hidden = !chosen;
  if (!chosen) return;
  const folders = new Set(pictures.map(({ folder }) => folder));
  byId("frames-box").hidden = !chosen.files || folders.size < 2;
  byId("frames").checked = false;
  byId("name").value = name.replace(FILE, "").slice(0, 200);
  byId("name").focus();
}

for (const [kind, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", over);
  });
}
drop.addEventListener("drop", (event) => dropped(event.dataTransfer.items).catch(failed));
byId("folder").addEventListener("change", ({ target }) => {
  const files = [...target.files];
  const found = files.map((file) => ({ folder: file.webkitRelativePath.split("/").slice(0, -1).join("/"), file }));
  choose(found, found[0]?.folder.split("/")[0] ?? "");
});
byId("file").addEventListener("change", ({ target }) => {
  const [file] = target.files;
  if (file) choose([{ folder: "", file }], file.name);
});

// --- What is sent ----------------------------------------------------------------------------------

async function scaled(file) {
  const bitmap = await createImageBitmap(file); // turned as its EXIF data say
  const part = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * part));
  canvas.height = Math.max(1, Math.round(bitmap.height * part));
  const paper = canvas.getContext("2d");
  paper.fillStyle = "#ffffff"; // JPEG has no transparency
  paper.fillRect(0, 0, canvas.width, canvas.height);
  paper.imageSmoothingQuality = "high";
  paper.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL("image/jpeg", 0.9).split(",")[1];
}

async function pictureLines(files, strips) {
  const responses = new Map();
  for (const [place, { folder, file }] of files.entries()) {
    const key = strips ? folder : place;
    if (!responses.has(key)) responses.set(key, []);
    responses.get(key).push(file);
  }
  const lines = [];
  let read = 0;
  for (const frames of responses.values()) {
    if (frames.length > MOST_FRAMES) throw new Error(`A strip may have at most ${MOST_FRAMES} pictures.`);
    const images = [];
    for (const file of frames) {
      try {
        images.push(await scaled(file));
      } catch {
        throw new Error(`${file.name} cannot be read as a picture.`);
      }
      read += 1;
      if (read % 20 === 0) setText("found", `Reading pictures: ${read} of ${files.length}.`);
    }
    lines.push(JSON.stringify({ images }));
  }
  return lines.join("\n");
}

const text = (file) =>
  file.name.endsWith(".gz")
    ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob()
    : file;

async function make() {
  const { files, file } = chosen;
  const table = Boolean(file && /\.csv(\.gz)?$/i.test(file.name));
  const body = files ? await pictureLines(files, byId("frames").checked) : await text(file);
  setText("found", "Making the lesson: the agent looks at everything once. Some seconds, or a minute.");
  const options = new URLSearchParams({
    name: byId("name").value,
    candidates: byId("candidates").value,
    format: table ? "csv" : "jsonl",
  });
  const response = await fetch(`/api/v1/lessons/import?${options}`, {
    method: "POST",
    headers: { "Content-Type": table ? "text/csv" : "application/jsonl", "Tellback-Account": account },
    body,
    signal: AbortSignal.timeout(WAIT_SECONDS * 1000),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail ?? `The service answered ${response.status}.`);
  location.assign(`/teach/${answer.id}`);
}

function failed(error) {
  setText("found", "");
  setText("problem", error.message || "That did not work. Try again.");
}

byId("make").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!byId("name").value.trim()) {
    setText("problem", "Give the lesson a name.");
    return;
  }
  const button = byId("make").querySelector("button");
  button.disabled = true;
  setText("problem", "");
  try {
    await make();
  } catch (error) {
    failed(error);
  }
  button.disabled = false;
});
