"""An agent for responses that are too many to list: it draws candidates and chooses among them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from tellback.agents.agent import ModelAgent, ModelAgentSpec, part, prefixed
from tellback.agents.greedy import Greedy
from tellback.agents.proposals import LogLinear, Proposal, ProposalSpec
from tellback.errors import SettingError
from tellback.off_policy.kinds import EXACT, GIVEN_CANDIDATES
from tellback.proof import ProofStatus, register_provable
from tellback.responses import Listed
from tellback.roles import AgentSpec, Choice, Facts, Instruction, State, Task
from tellback.specs import Count

PROPOSAL = "proposal."
SHORTLIST_ONLY = "its bounds are for the responses of its shortlists only"


@dataclass(frozen=True)
class Proposing(AgentSpec):
    """Draws candidates from a proposal q(y | x, s), and lets another agent choose among them.

    The cost of a round grows with the number of candidates, not with that of the responses. Where
    responses are listed, the other agent plays as it does alone.

    Parameters
    ----------
    agent : ModelAgentSpec
        Who chooses among the candidates.
    proposal : ProposalSpec
        Draws the candidates.
    candidates : int
        K, the number of candidates at most: equal ones count once.
    passes : int
        How often K candidates are drawn at most, until K of them are different. A proposal that has
        learned much draws the same ones again and again: in the house (seed 1000), 64
        draws had 34 different paths after 10,000 descriptions.

    Examples
    --------
    >>> Proposing(candidates=32).proposal.grammar
    'waypoints'
    """

    agent: ModelAgentSpec = field(default_factory=Greedy)
    proposal: ProposalSpec = field(default_factory=LogLinear)
    candidates: Count = 64
    passes: Count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, wanted in (("agent", ModelAgentSpec), ("proposal", ProposalSpec)):
            if not isinstance(getattr(self, name), wanted):
                raise SettingError(
                    f"{name} must be the spec of {wanted.an()}, not {getattr(self, name)!r}."
                )

    def resolved(self, facts: Facts) -> Self:
        """The same with the agent's model named."""
        return self.with_settings({"agent": self.agent.resolved(facts)})

    def build(self, facts: Facts, rng: np.random.Generator) -> ProposingAgent:
        """Bring the agent and its proposal to life."""
        resolved = self.resolved(facts)
        inner = resolved.agent.build(facts, rng)
        return ProposingAgent(inner, resolved.proposal.build(facts, rng), resolved, facts)


class ProposingAgent(ModelAgent):
    """A live agent that chooses among the candidates of its proposal."""

    def __init__(
        self,
        agent: ModelAgent,
        proposal: Proposal,
        spec: Proposing | None = None,
        facts: Facts | None = None,
    ) -> None:
        super().__init__(agent.model, agent.explorer, spec, facts)
        self.agent = agent
        self.proposal = proposal
        self._count, self._passes = (64, 1) if spec is None else (spec.candidates, spec.passes)

    @property
    def propensities(self) -> str:
        """How its propensities are known: given the candidates."""
        inner = self.agent.propensities
        return inner.replace(EXACT, GIVEN_CANDIDATES, 1) if inner.startswith(EXACT) else inner

    def shortlisted(self, task: Task, rng: np.random.Generator) -> Task:
        """The task with candidates for its responses; as it is where responses are listed."""
        if isinstance(task.responses, Listed):
            return task
        drawn: dict[Hashable, None] = {}  # in order, each once
        for _ in range(self._passes):
            drawn |= dict.fromkeys(self.proposal.draw(task, self._count, rng))
            if len(drawn) >= self._count:
                break
        chosen = list(drawn)[: self._count]
        return task._replace(responses=task.responses.shortlist(chosen))

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The agent's choice among the candidates."""
        listed = self.shortlisted(task, rng)
        choice = self.agent.respond(listed, rng)
        if listed is task:
            return choice
        shortlist = listed.responses
        return choice._replace(response=shortlist.responses[choice.response], shortlist=shortlist)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Teach the agent, and the proposal, which takes the response for a demonstration."""
        self.agent.learn(task, choice, description)
        if not isinstance(task.responses, Listed):
            self.proposal.learn(task, choice.response, description)

    def learn_silence(self, task: Task, choice: Choice) -> None:
        """Shrink the agent's widths."""
        self.agent.learn_silence(task, choice)

    @property
    def withdraws(self) -> bool:
        """Whether a description can be taken back exactly: a proposal cannot, save by snapshot."""
        return False

    def state(self) -> State:
        """The agent's and the proposal's."""
        return {**self.agent.state(), **prefixed(PROPOSAL, self.proposal.state())}

    def _restore_parts(self, state: State) -> None:
        self.agent.restore({k: v for k, v in state.items() if not k.startswith(PROPOSAL)})
        self.proposal.restore(part(state, PROPOSAL))

    def proof_status(self) -> ProofStatus:
        """No proof: widths of candidates say nothing of the best response there is."""
        return ProofStatus(None, SHORTLIST_ONLY)


register_provable(ProposingAgent, ProposingAgent.proof_status)
