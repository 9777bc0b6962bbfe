"""Worlds: each presents a task a round; a simulated one has a teacher and a truth too."""

from tellback.roles import WorldSpec
from tellback.worlds.images import Images
from tellback.worlds.synthetic import Synthetic

__all__ = ["Images", "Synthetic", "WorldSpec"]
