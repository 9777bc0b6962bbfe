"""Names for the arrays that pass between the rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers: a vector of estimates, a matrix of features."""

Indices = NDArray[np.int64]
"""Whole numbers: responses, table instructions, positions."""

AnyArray = NDArray[Any]
