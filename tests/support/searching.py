"""How hypothesis searches: the same examples every time, or others each time and more of them.

``make test`` uses the profile ``test``. ``make fuzz`` uses ``fuzz``: ten times the examples, at
random, and what fails is printed so that it can be pasted as ``@example(...)``.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

MORE = 10
"""Times as many examples in ``make fuzz``."""


def register() -> None:
    """Tell hypothesis of both profiles; ``--hypothesis-profile fuzz`` is for the second."""
    settings.register_profile("test", derandomize=True, deadline=None, database=None)
    settings.register_profile(
        "fuzz",
        derandomize=False,
        deadline=None,
        print_blob=True,
        database=DirectoryBasedExampleDatabase(".hypothesis/fuzz"),  # what failed is tried first
    )
    settings.load_profile("test")


def at_length(rules: settings) -> settings:
    """The settings of a test, with more examples if this is ``make fuzz``."""
    if settings.get_current_profile_name() != "fuzz":
        return rules
    return settings(rules, max_examples=MORE * rules.max_examples)
