"""A first version of LORIL in PyTorch, and of its rivals, for comparison in the benchmarks.

One full-history Adam step on theta a round, Sigma solved for the bonus of every response.
The history is kept in Python lists, in tensors of the final size, or as counts.
"""

from __future__ import annotations

import numpy as np
import torch

from tellback.arrays import Array


def torch_loril(
    f: Array, g: Array, rounds: int, k: float | None, lam: float, seed: int, history: str
) -> float:
    """Play LORIL for some rounds against F (|X| x d) and G (|Y| x d); returns final regret.

    Without ``k`` it is the greedy agent, which needs no Sigma.
    """
    rng = np.random.default_rng(seed)
    truth = f @ g.T
    cumulative = np.cumsum(truth, axis=0)
    features = torch.tensor(g, dtype=torch.float32)
    theta = torch.zeros(f.shape, requires_grad=True)
    adam = torch.optim.Adam([theta], lr=0.001)
    sigma = lam * torch.eye(g.shape[1])
    labels: list[int] = []
    chosen: list[int] = []
    label_tensor = torch.empty(rounds, dtype=torch.long)
    chosen_tensor = torch.empty(rounds, dtype=torch.long)
    counts = torch.zeros(len(f), len(g))
    regret = 0.0
    for t in range(rounds):
        if t > 0:
            estimate = torch.softmax(theta, dim=0)
            if history == "counts":
                likelihood = (counts * torch.log(estimate @ features.T)).sum()
            else:
                if history == "lists":
                    rows, columns = torch.tensor(labels), torch.tensor(chosen)
                else:
                    rows, columns = label_tensor[:t], chosen_tensor[:t]
                products = (estimate[rows] * features[columns]).sum(dim=1)
                likelihood = torch.log(products).sum()
            adam.zero_grad()
            (-likelihood).backward()  # type: ignore[no-untyped-call]
            adam.step()
        x = int(rng.integers(len(f)))
        with torch.no_grad():
            value = features @ torch.softmax(theta, dim=0)[x]
            if k is not None:
                widths = (features.T * torch.linalg.solve(sigma, features.T)).sum(dim=0)
                value += k * torch.sqrt(widths)
            y = int(torch.argmax(value))
            if k is not None:
                sigma += torch.outer(features[y], features[y])
        label = int(np.searchsorted(cumulative[:, y], rng.random() * cumulative[-1, y]))
        if history == "lists":
            labels.append(label)
            chosen.append(y)
        label_tensor[t], chosen_tensor[t] = label, y
        counts[label, y] += 1
        regret += float(truth[x].max() - truth[x, y])
    return regret
