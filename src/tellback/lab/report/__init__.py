"""The report of studies: one self-contained HTML file, and the figures beside it."""

from tellback.lab.report.page import Section
from tellback.lab.report.write import write_report, write_table

__all__ = ["Section", "write_report", "write_table"]
