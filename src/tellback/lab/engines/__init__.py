"""Engines: where runs are played."""

from tellback.lab.engines.engine import Engine, engine_named
from tellback.lab.engines.processes import Processes
from tellback.lab.engines.ray_cluster import RayCluster

__all__ = ["Engine", "Processes", "RayCluster", "engine_named"]
