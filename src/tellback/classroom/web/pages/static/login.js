// Signing in: sends the name and the password, then goes on to where the user was headed.

const form = document.getElementById("login");
const name = document.getElementById("name");
const password = document.getElementById("password");
const problem = document.getElementById("problem");
const button = form.querySelector("button");

// Only to pages of this service: a link must not lead elsewhere by way of our login.
const destination = () => {
  const wanted = new URLSearchParams(location.search).get("next") || "/";
  try {
    const url = new URL(wanted, location.origin);
    return url.origin === location.origin ? url.href : "/";
  } catch {
    return "/";
  }
};

const tell = (text, field) => {
  problem.textContent = text;
  for (const input of [name, password]) {
    input.setAttribute("aria-invalid", String(Boolean(text)));
  }
  if (field) field.focus();
};

const problemOf = async (response) => {
  try {
    return (await response.json()).detail;
  } catch {
    return `The service answered ${response.status}. Try again.`;
  }
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!name.value || !password.value) {
    tell("Give both a name and a password.", name.value ? password : name);
    return;
  }
  button.disabled = true;
  tell("");
  try {
    const response = await fetch("/api/v1/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: name.value, password: password.value }),
    });
    if (response.ok) {
      location.replace(destination());
      return;
    }
    password.value = "";
    tell(await problemOf(response), password);
  } catch {
    tell("The service does not answer. Try again when you are connected.");
  }
  button.disabled = false;
});
button.disabled = false;
