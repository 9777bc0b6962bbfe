"""Is it theory, tuning or a bug? A run is replayed, measured and judged by rules."""

from tellback.lab.diagnose.diagnosis import Check, Diagnosis
from tellback.lab.diagnose.examine import diagnose

__all__ = ["Check", "Diagnosis", "diagnose"]
