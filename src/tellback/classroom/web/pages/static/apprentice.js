// Apprentice mode under Progress: the agent beside the policy that acts.

import { get, lessonPath } from "./api.js";
import { byId, percent, setText, shareWords, table } from "./dom.js";
import { onUpdate } from "./updates.js";

const range = ({ low, high }) => `${percent(low)} to ${percent(high)}`;

onUpdate(async () => {
  const { ok, answer } = await get(`${lessonPath}/apprentice`);
  if (!ok) return;
  byId("apprentice-box").hidden = !answer.rounds;
  if (!answer.rounds) return;
  setText("apprentice-says", answer.says);
  setText("apprentice-agreed", `The agent advised what was done: ${shareWords(answer.agreement)}.`);
  const { acting, agent } = answer;
  const rows = [
    ["What was done", acting ? percent(acting.share) : "–", acting ? range(acting) : "–"],
    ["The agent’s advice", agent?.mean != null ? percent(agent.mean) : "–", agent ? range(agent) : "–"],
  ];
  byId("apprentice").replaceChildren(
    table("Requests met", ["", "Requests met", "95% interval at all times"], rows),
  );
});
