"""The one array type of the pure rooms. Shapes stand in the docstrings: `F` frames, `C` chains, `...` any batch."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy import bool_, dtype, float64, int8, ndarray

Array: TypeAlias = ndarray[Any, dtype[float64]]
"""Floating-point numbers; radians where they are angles."""

Mask: TypeAlias = ndarray[Any, dtype[bool_]]
"""Yes or no, usually per frame."""

Codes: TypeAlias = ndarray[Any, dtype[int8]]
"""Small whole numbers, such as `solver.Reach` per frame."""
