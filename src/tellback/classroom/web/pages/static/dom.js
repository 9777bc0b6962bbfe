// Small parts of pages. Whatever people wrote is only ever put in as text.

export const byId = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function table(caption, heads, rows) {
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make(
      "table",
      {},
      make("caption", { class: "unseen" }, caption),
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make(
        "tbody",
        {},
        ...rows.map(([first, ...rest]) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, String(first)),
            ...rest.map((cell) => make("td", {}, String(cell))),
          ),
        ),
      ),
    ),
  );
}

export const quoted = (text) => `“${text}”`;
export const counted = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
export const percent = (share) => `${Math.round(100 * share)}%`;

export function shareWords(share) {
  const range = `${percent(share.low)} to ${percent(share.high)}`;
  return `${percent(share.share)} of ${share.n} (95% interval at all times: ${range})`;
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// Numbers lose their last digits here: people compare, they do not calculate.
export function figure(number) {
  if (number === null) return "unknown";
  if (number === 0 || Math.abs(number) >= 0.1) return number.toFixed(2);
  if (Math.abs(number) >= 0.001) return String(+number.toPrecision(2));
  const [digits, power] = number.toExponential(1).split("e");
  const raised = [...String(+power)].map((sign) => RAISED[sign]).join("");
  return `${digits} × 10${raised}`;
}

export function setText(id, text) {
  const element = byId(id);
  element.textContent = text;
  element.hidden = !text;
}
