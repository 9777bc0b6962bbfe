// Accounts: one's own password, and for admins everybody's role, password and tokens.

import { account as mine, call, get } from "./api.js";
import { byId, make, setText } from "./dom.js";

const says = ({ problem, status }) => problem?.detail ?? `The service answered ${status}.`;

async function send(form, method, path, body) {
  const problem = form.querySelector(".problem");
  problem.textContent = "";
  try {
    const result = await call(method, path, body);
    if (result.ok) return true;
    problem.textContent = says(result);
  } catch {
    problem.textContent = "The service does not answer: nothing was changed.";
  }
  return false;
}

byId("own")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = { current: byId("current").value, new: byId("fresh").value };
  if (!(await send(event.target, "PUT", "/api/v1/me/password", body))) return;
  event.target.reset();
  setText("banner", "Your password is changed.");
});

byId("add")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [name, role, password] = ["name", "role", "password"].map((field) => byId(`add-${field}`).value);
  if (!(await send(event.target, "POST", "/api/v1/accounts", { name, role, password }))) return;
  event.target.reset();
  await draw(`The account ${name} is there.`);
});

const button = (words, does) => {
  const made = make("button", { type: "button" }, words);
  made.addEventListener("click", does);
  return made;
};

function field(id, label, input, words) {
  const form = make("form", { class: "say", novalidate: true }, make("label", { for: id }, label), input, make("button", { type: "submit" }, words));
  return form;
}

function accountBox(one, tokens) {
  const path = `/api/v1/accounts/${one.id}`;
  const box = make("li", { class: `card account${one.disabled ? " off" : ""}`, "data-name": one.name });
  const change = async (body, told) => {
    if (await send(box, "PATCH", path, body)) await draw(told);
  };
  const roles = byId("all").dataset.roles.split(" ");
  const role = make("select", { id: `role-${one.id}` }, ...roles.map((name) => make("option", { selected: name === one.role }, name)));
  const roleForm = field(role.id, `Role of ${one.name}`, role, "Set the role");
  roleForm.addEventListener("submit", (event) => {
    event.preventDefault();
    change({ role: role.value }, `${one.name} is ${role.value} now.`);
  });
  const password = make("input", { id: `password-${one.id}`, type: "password", autocomplete: "new-password" });
  const passwordForm = field(password.id, `New password of ${one.name}`, password, "Set the password");
  passwordForm.addEventListener("submit", (event) => {
    event.preventDefault();
    change({ password: password.value }, `The password of ${one.name} is set, and all sessions have ended.`);
  });
  const able = button(one.disabled ? "Enable" : "Disable", () =>
    change({ disabled: !one.disabled }, `${one.name} is ${one.disabled ? "enabled" : "disabled"}.`),
  );
  const lines = tokens.map((token) =>
    make(
      "li",
      {},
      `${token.name} `,
      button(`Revoke`, async () => {
        if (await send(box, "DELETE", `/api/v1/tokens/${token.id}`)) await draw(`The token ${token.name} is revoked.`);
      }),
    ),
  );
  for (const [place, line] of lines.entries()) line.lastChild.setAttribute("aria-label", `Revoke the token ${tokens[place].name} of ${one.name}`);
  able.setAttribute("aria-label", `${able.textContent} ${one.name}`);
  const state = [one.role, one.disabled ? "disabled" : "", one.id === mine ? "you" : ""].filter(Boolean).join(", ");
  box.append(
    make("h3", {}, one.name),
    make("p", { class: "soft" }, state),
    make(
      "details",
      { class: "manage" },
      make("summary", { "aria-label": `Manage: ${one.name}` }, "Manage"),
      roleForm,
      passwordForm,
      make("p", {}, able),
      ...(lines.length ? [make("h4", {}, "Tokens"), make("ul", { class: "plain" }, ...lines)] : []),
    ),
    make("p", { class: "problem", role: "alert" }),
  );
  return box;
}

async function draw(told = "") {
  const list = byId("all");
  if (!list) return;
  try {
    const [accounts, tokens] = await Promise.all([get("/api/v1/accounts"), get("/api/v1/tokens?everybody=true")]);
    if (!accounts.ok || !tokens.ok) throw new Error(says(accounts.ok ? tokens : accounts));
    const valid = tokens.answer.filter((token) => !token.revoked);
    list.replaceChildren(...accounts.answer.map((one) => accountBox(one, valid.filter((token) => token.account === one.id))));
    setText("banner", told);
  } catch (error) {
    setText("banner", error.message);
  }
}

draw();
