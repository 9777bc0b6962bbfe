"""Engines: where runs are played."""

from tellback.lab.engines.engine import Engine, Here, engine_named
from tellback.lab.engines.inline import Inline
from tellback.lab.engines.processes import Processes
from tellback.lab.engines.ray_cluster import RayCluster

__all__ = ["Engine", "Here", "Inline", "Processes", "RayCluster", "engine_named"]
