"""How hypothesis searches: the same examples every time, or others each time and more of them.

``make test`` uses the profile ``test``. ``make fuzz`` uses ``fuzz``: ten times the examples, at
random, and what fails is printed so that it can be pasted as ``@example(...)``.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

MORE = 10
"""Times as many examples in ``make fuzz``."""

_loaded_constants = providers._get_local_constants


def _constants() -> Constants:
    """Constants of our source that hypothesis tries as examples.

    It takes them from all modules that are loaded by then, so from those that earlier tests
    happened to need. Where the examples must be the same every time there are none.
    """
    return _loaded_constants() if _searches_at_random() else Constants()


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
    providers._get_local_constants = _constants


def _searches_at_random() -> bool:
    return settings.get_current_profile_name() == "fuzz"


def at_length(rules: settings) -> settings:
    """The settings of a test, with more examples if this is ``make fuzz``."""
    if not _searches_at_random():
        return rules
    return settings(rules, max_examples=MORE * rules.max_examples)
