"""The array types of the pure packages. Shapes stand in the docstrings: `F` frames, `C` chains, `...` any batch.

NumPy's stubs tell number types apart so finely that every sum of whole numbers and reals would need a cast; the names
say what is meant, the checker only that it is an array.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from numpy import dtype, ndarray

Array: TypeAlias = ndarray[Any, dtype[Any]]
"""Floating-point numbers; radians where they are angles."""

NumberRows: TypeAlias = Annotated[Array, 0]
"""A number for each frame: what `rows` may take some of, or stack. One row stands for all frames."""

VectorRows: TypeAlias = Annotated[Array, 1]
"""A vector for each frame; without rows, one for all."""

MatrixRows: TypeAlias = Annotated[Array, 2]
"""A matrix, or another table, for each frame; without rows, one for all."""

Mask: TypeAlias = ndarray[Any, dtype[Any]]
"""Yes or no, usually per frame."""

Indices: TypeAlias = ndarray[Any, dtype[Any]]
"""Whole numbers: places in the frames or samples of a motion."""

Codes: TypeAlias = ndarray[Any, dtype[Any]]
"""Small whole numbers, such as `solver.Reach` per frame."""
