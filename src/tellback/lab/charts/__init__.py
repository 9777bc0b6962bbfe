"""Charts of a study: each draws one view of its results into a figure."""

from tellback.lab.charts.chart import Chart
from tellback.lab.charts.finals import FINALS
from tellback.lab.charts.growth import GROWTH
from tellback.lab.charts.rate import RATE
from tellback.lab.charts.regret import REGRET, draw_regret
from tellback.lab.charts.tuning import TUNING

CHARTS = (REGRET, FINALS, RATE, GROWTH, TUNING)
"""All of them, in the order of a report."""

__all__ = ["CHARTS", "Chart", "draw_regret"]
