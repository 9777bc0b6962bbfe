"""Is it theory, tuning or a bug? A run replayed with instruments, and what they say."""

from tellback.lab.diagnose.diagnosis import Diagnosis, Finding
from tellback.lab.diagnose.examine import diagnose

__all__ = ["Diagnosis", "Finding", "diagnose"]
