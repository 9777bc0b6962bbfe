// Signing out: what was typed here and not sent yet is deleted from this browser.

import { account, call } from "./api.js";
import { byId } from "./dom.js";

byId("leave").addEventListener("click", async () => {
  try {
    await call("POST", "/api/v1/logout");
  } catch {
    byId("leave").textContent = "Not signed out: try again";
    return;
  }
  forget();
  // The page may keep a draft once more while it goes.
  addEventListener("pagehide", forget);
  location.assign("/login");
});

function forget() {
  for (const storage of [localStorage, sessionStorage]) {
    for (const name of Object.keys(storage)) {
      if (name.startsWith(`tellback:${account}:`)) storage.removeItem(name);
    }
  }
}
