"""One library, one problem: act and learn every round, for some seconds of CPU time.

    python benchmarks/peer_loops.py NAME RESPONSES DIM KIND SECONDS

It prints seconds a round. ``peers.py`` starts it, in an environment that need not have tellback, so
that it imports nothing of tellback but in ``tellback``.

KIND is "fixed" (the same responses every round), "fresh" (new ones every round), or "lhi": as
"fixed", and each round asks for one of 2,000 instructions. A response with features g is rewarded
with probability f(x) . g. Where a library has a parameter for each response instead of a shared
one, it is given the context it needs, and no features of responses.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ALPHA, LAM, LISTS = 0.1, 1.0, 20
Step = Callable[[int, int, Any], None]
"""A round: the number of a list of responses, the instruction, and how rewards are drawn."""


class Problem:
    """Lists of responses, and rewards.

    Parameters
    ----------
    responses, dim : int
        K and d.
    kind : str
        See above.
    """

    def __init__(self, responses: int, dim: int, kind: str) -> None:
        rng = np.random.default_rng(1)
        self.dim, self.kind = dim, kind
        self.instructions = 2000 if kind == "lhi" else 1
        lists = LISTS if kind == "fresh" else 1
        self.matrices = list(rng.dirichlet(np.ones(dim), size=(lists, responses)))
        f = rng.random((self.instructions, dim))
        self._probabilities = [(f @ matrix.T).tolist() for matrix in self.matrices]
        self._asked = rng.integers(self.instructions, size=4096).tolist()
        self._luck = rng.random(4096).tolist()

    def rounds(self) -> Iterator[tuple[int, int, float]]:
        """The list, the instruction and the luck of every round, without end."""
        n = 0
        while True:
            yield n % len(self.matrices), self._asked[n % 4096], self._luck[n % 4096]
            n += 1

    def reward(self, which: int, x: int, y: int, luck: float) -> int:
        """1 with probability f(x) . g(y), else 0."""
        return int(luck < self._probabilities[which][x][y])


def tellback(problem: Problem) -> Step:
    """LORIL on ridge regression."""
    from tellback.agents import LORIL
    from tellback.models import Ridge
    from tellback.responses import Listed
    from tellback.roles import Facts, Task

    none = problem.instructions  # the description of a response that does not fit
    fixed = problem.kind != "fresh"
    facts = Facts(problem.dim, none + 1, fixed_responses=fixed)
    rng = np.random.default_rng(0)
    spec = LORIL(k=ALPHA, lam=LAM, model=Ridge(lam=LAM), ties="first")
    agent, only = spec.build(facts, rng), Listed(problem.matrices[0])

    def step(which: int, x: int, luck: Any) -> None:
        task = Task(None, x, only if fixed else Listed(problem.matrices[which]))
        choice = agent.respond(task, rng)
        reward = problem.reward(which, x, choice.response, luck)
        agent.learn(task, choice, x if reward else none)

    return step


def numpy(problem: Problem) -> Step:
    """The same by the formula of Sherman and Morrison."""
    inverse = np.eye(problem.dim) / LAM
    sums = np.zeros((problem.instructions, problem.dim))

    def step(which: int, x: int, luck: Any) -> None:
        nonlocal inverse
        g = problem.matrices[which]
        upper = g @ (inverse @ sums[x]) + ALPHA * np.sqrt(((g @ inverse) * g).sum(axis=1))
        y = int(upper.argmax())
        chosen = g[y]
        u = inverse @ chosen
        inverse -= np.outer(u, u) / (1 + chosen @ u)
        if problem.reward(which, x, y, luck):
            sums[x] += chosen

    return step


def coba(problem: Problem) -> Step:
    """LinUCBLearner on the features of actions; a learner for each instruction."""
    from coba.learners import LinUCBLearner

    learners: dict[int, Any] = {}
    actions = [[tuple(g) for g in matrix.tolist()] for matrix in problem.matrices]
    places = [{action: y for y, action in enumerate(each)} for each in actions]

    def step(which: int, x: int, luck: Any) -> None:
        if x not in learners:
            learners[x] = LinUCBLearner(ALPHA, features=["a"])
        action, probability = learners[x].predict(None, actions[which])[:2]
        reward = problem.reward(which, x, places[which][action], luck)
        learners[x].learn(None, action, reward, probability)

    return step


def vowpalwabbit(problem: Problem, options: str = "--squarecb") -> Step:
    """Contextual bandits with features of actions, in VW's text format."""
    from vowpalwabbit import Workspace

    lhi = problem.kind == "lhi"
    vw = Workspace(f"--cb_explore_adf {options} --quiet" + (" -q sa" if lhi else ""))
    lines = [
        ["|a " + " ".join(f"{i}:{v:.6g}" for i, v in enumerate(g)) for g in matrix.tolist()]
        for matrix in problem.matrices
    ]
    rng = np.random.default_rng(0)

    def step(which: int, x: int, luck: Any) -> None:
        shared = [f"shared |s x{x}"] if lhi else []
        probabilities = np.array(vw.predict(shared + lines[which]))
        y = int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))
        cost = -problem.reward(which, x, y, luck)
        told = list(lines[which])
        told[y] = f"0:{cost}:{probabilities[y]:.6g} {told[y]}"
        vw.learn(shared + told)

    return step


def large_action_space(problem: Problem) -> Step:
    """VW for many actions, by its own approximation."""
    return vowpalwabbit(problem, "--squarecb --large_action_space --max_actions 20")


def large_action_space_parsed(problem: Problem) -> Step:
    """The same without parsing and without learning: examples that were parsed beforehand."""
    from vowpalwabbit import Workspace

    options = "--squarecb --large_action_space --max_actions 20"
    vw = Workspace(f"--cb_explore_adf {options} --quiet")
    rows = problem.matrices[0].tolist()
    examples = vw.parse(["|a " + " ".join(f"{i}:{v:.6g}" for i, v in enumerate(g)) for g in rows])

    def step(which: int, x: int, luck: Any) -> None:
        vw.predict(examples)

    return step


def river(problem: Problem) -> Step:
    """BayesianLinearRegression, whose upper bounds are asked for; one for each instruction."""
    from river.linear_model import BayesianLinearRegression

    models: dict[int, Any] = {}
    features = [[dict(enumerate(g)) for g in matrix.tolist()] for matrix in problem.matrices]

    def step(which: int, x: int, luck: Any) -> None:
        if x not in models:
            models[x] = BayesianLinearRegression(alpha=LAM, beta=1.0)
        best, highest = 0, -np.inf
        for y, g in enumerate(features[which]):
            found = models[x].predict_one(g, with_dist=True)
            upper = found.mu + ALPHA * found.sigma
            if upper > highest:
                best, highest = y, upper
        models[x].learn_one(features[which][best], problem.reward(which, x, best, luck))

    return step


def mabwiser(problem: Problem) -> Step:
    """LinUCB: a parameter for each response."""
    from mabwiser.mab import MAB, LearningPolicy

    context = np.ones((1, problem.dim)) / problem.dim
    arms = list(range(len(problem.matrices[0])))
    mab = MAB(arms, LearningPolicy.LinUCB(alpha=ALPHA, l2_lambda=LAM))
    mab.fit(arms, [0] * len(arms), np.repeat(context, len(arms), axis=0))

    def step(which: int, x: int, luck: Any) -> None:
        y = mab.predict(context)
        mab.partial_fit([y], [problem.reward(which, x, y, luck)], context)

    return step


def contextualbandits(problem: Problem) -> Step:
    """LinUCB: a parameter for each response."""
    from contextualbandits.online import LinUCB

    context = np.ones((1, problem.dim)) / problem.dim
    policy = LinUCB(len(problem.matrices[0]), alpha=ALPHA, lambda_=LAM, random_state=1)

    def step(which: int, x: int, luck: Any) -> None:
        y = np.array(policy.predict(context)).astype(int)
        reward = problem.reward(which, x, int(y[0]), luck)
        policy.partial_fit(context, y, np.array([reward]))

    return step


def obp(problem: Problem) -> Step:
    """LinUCB: a parameter for each response."""
    from obp.policy import LinUCB

    context = np.ones((1, problem.dim)) / problem.dim
    policy = LinUCB(dim=problem.dim, n_actions=len(problem.matrices[0]), epsilon=ALPHA)

    def step(which: int, x: int, luck: Any) -> None:
        y = int(policy.select_action(context)[0])
        policy.update_params(y, problem.reward(which, x, y, luck), context)

    return step


def tellback_run(seconds: float) -> float:
    """CPU seconds a round of a whole run, as a study of the lab plays it."""
    from tellback.agents import LORIL
    from tellback.compiled_run import play_compiled
    from tellback.worlds import Synthetic

    world, rounds = Synthetic(), 1000
    while True:
        began = time.process_time()
        assert play_compiled(world, LORIL(k=ALPHA, lam=LAM), rounds, seed=1) is not None
        took = time.process_time() - began
        if took >= seconds:
            return took / rounds
        rounds *= 2


LOOPS: dict[str, Callable[[Problem], Step]] = {
    "tellback": tellback,
    "numpy": numpy,
    "coba": coba,
    "vowpalwabbit": vowpalwabbit,
    "large_action_space": large_action_space,
    "large_action_space_parsed": large_action_space_parsed,
    "river": river,
    "mabwiser": mabwiser,
    "contextualbandits": contextualbandits,
    "obp": obp,
}


def seconds_a_round(name: str, problem: Problem, budget: float) -> float:
    """CPU seconds a round, after a few rounds that are not counted."""
    step, rounds = LOOPS[name](problem), problem.rounds()
    began = time.process_time()
    while time.process_time() - began < budget / 5:
        step(*next(rounds))
    played, began = 0, time.process_time()
    while time.process_time() - began < budget:
        for _ in range(8 if played else 1):
            step(*next(rounds))
            played += 1
    return (time.process_time() - began) / played


if __name__ == "__main__":
    name, responses, dim, kind, budget = sys.argv[1:]
    if name == "tellback_run":
        print(tellback_run(float(budget)))
    else:
        problem = Problem(int(responses), int(dim), kind)
        print(seconds_a_round(name, problem, float(budget)))
