"""Audit: which descriptions of a recording are probably wrong."""

from tellback.audit.audit import SURE, Audit, Judged, StillWrong, audit
from tellback.audit.sentences import Place

__all__ = ["SURE", "Audit", "Judged", "Place", "StillWrong", "audit"]
