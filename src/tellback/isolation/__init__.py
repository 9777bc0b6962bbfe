"""An agent in a process of its own, where there is no world, no truth and no seed.

``play(..., isolated=True)`` uses it. The agent is given what it would be given otherwise, over
a pipe: facts, tasks, descriptions, and the key of its own random stream. What it answers is
decoded strictly and never unpickled, so that it cannot run code in the process of the referee.
"""

from tellback.isolation.packing import Packed
from tellback.isolation.parent import IsolatedAgent, IsolationError

__all__ = ["IsolatedAgent", "IsolationError", "Packed"]
