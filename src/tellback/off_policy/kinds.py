"""How the propensities of a log are known."""

from __future__ import annotations

import re

from tellback.errors import SettingError

EXACT = "exact"
"""The propensities are the probabilities themselves."""

GIVEN_CANDIDATES = "exact given the candidates"
"""Of an agent with shortlists: a log has these for its responses, and given them they are exact."""

NONE_STATED = "none are stated"
UNKNOWN = "unknown"
"""Of a log whose maker did not say, and of a file from before it could be said."""

SAID = re.compile(r"exact( given .+)?|none are stated|unknown")


def checked_kind(kind: object) -> str:
    """What ``agent.propensities`` says, or 'unknown'; an error lists what is allowed."""
    if not isinstance(kind, str) or not SAID.fullmatch(kind):
        raise SettingError(
            "propensities must be what agent.propensities says, such as 'exact', 'exact given 50 "
            f"draws' or 'none are stated', or else 'unknown', not {kind!r}."
        )
    return kind


def are_shares(kind: str) -> bool:
    """Whether they are shares of some draws: a share of 1 is then no certainty."""
    return kind not in (EXACT, GIVEN_CANDIDATES, NONE_STATED, UNKNOWN)
