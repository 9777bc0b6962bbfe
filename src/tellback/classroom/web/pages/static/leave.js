// Signing out.

import { call } from "./api.js";
import { byId } from "./dom.js";

byId("leave").addEventListener("click", async () => {
  try {
    await call("POST", "/api/v1/logout");
    location.assign("/login");
  } catch {
    byId("leave").textContent = "Not signed out: try again";
  }
});
