"""The type of arrays that say which frames or samples."""

from typing import Any, TypeAlias

import numpy as np

Indices: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]
"""Whole numbers: places in the frames or samples of a motion."""
