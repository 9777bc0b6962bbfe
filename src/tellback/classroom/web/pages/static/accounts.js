// Accounts: one's own password and tokens, and for admins everybody's role, password and tokens.

import { account as mine, call, get } from "./api.js";
import { byId, make, setText } from "./dom.js";

const says = ({ problem, status }) => problem?.detail ?? `The service answered ${status}.`;

async function send(form, method, path, body) {
  const problem = form.querySelector(".problem");
  problem.textContent = "";
  try {
    const result = await call(method, path, body);
    if (result.ok) return result;
    problem.textContent = says(result);
  } catch {
    problem.textContent = "The service does not answer: nothing was changed.";
  }
  return null;
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

byId("new-token")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const days = byId("token-days").value;
  const body = { name: byId("token-name").value, days: days === "" ? null : Number(days) };
  const made = await send(event.target, "POST", "/api/v1/tokens", body);
  if (!made) return;
  event.target.reset();
  byId("secret").hidden = false;
  byId("secret").querySelector("code").textContent = made.answer.secret;
  await draw();
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

function tokenLine(token, box, whose = "") {
  const until = token.expires ? `, until ${new Date(token.expires * 1000).toLocaleDateString()}` : "";
  const revoke = button("Revoke", async () => {
    if (await send(box, "DELETE", `/api/v1/tokens/${token.id}`)) await draw(`The token ${token.name} is revoked.`);
  });
  revoke.setAttribute("aria-label", `Revoke the token ${token.name}${whose}`);
  return make("li", {}, `${token.name}${until} `, revoke);
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
  const lines = tokens.map((token) => tokenLine(token, box, ` of ${one.name}`));
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

const valid = (token) => !token.revoked && !(token.expires && token.expires * 1000 < Date.now());

async function drawOwn() {
  const found = await get("/api/v1/tokens");
  if (!found.ok) throw new Error(says(found));
  const form = byId("new-token");
  byId("tokens").replaceChildren(...found.answer.filter(valid).map((token) => tokenLine(token, form)));
}

async function drawAll(list) {
  const [accounts, tokens] = await Promise.all([get("/api/v1/accounts"), get("/api/v1/tokens?everybody=true")]);
  if (!accounts.ok || !tokens.ok) throw new Error(says(accounts.ok ? tokens : accounts));
  const theirs = (one) => tokens.answer.filter((token) => valid(token) && token.account === one.id);
  list.replaceChildren(...accounts.answer.map((one) => accountBox(one, theirs(one))));
}

async function draw(told = "") {
  try {
    if (byId("tokens")) await drawOwn();
    if (byId("all")) await drawAll(byId("all"));
    setText("banner", told);
  } catch (error) {
    setText("banner", error.message);
  }
}

if (byId("own")) draw();
