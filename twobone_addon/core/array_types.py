"""Array types of the packages without Blender. Docstrings give shapes: `F` frames, `C` chains, `...` any batch.

NumPy's stubs distinguish number types so finely that every sum of integers and floats would need a cast. These names document the
intent; the type checker only knows that each is an array.
"""

from __future__ import annotations

from typing import Annotated, Any, NewType, TypeAlias

from numpy import dtype, ndarray

Array: TypeAlias = ndarray[Any, dtype[Any]]
"""Floating-point numbers; radians where they are angles."""

NumberRows: TypeAlias = Annotated[Array, 0]
"""A number for each frame, which `rows` can select and stack; one row stands for all frames."""

VectorRows: TypeAlias = Annotated[Array, 1]
"""A vector for each frame; without a frame axis, one for all frames."""

MatrixRows: TypeAlias = Annotated[Array, 2]
"""A matrix, or another table, for each frame; without a frame axis, one for all frames."""

Mask: TypeAlias = ndarray[Any, dtype[Any]]
"""Booleans, usually per frame."""

Indices: TypeAlias = ndarray[Any, dtype[Any]]
"""Integer indices into the frames or samples of a motion."""

Codes: TypeAlias = ndarray[Any, dtype[Any]]
"""Small integer codes, such as `solver.Reach` per frame."""

SampledFrames = NewType("SampledFrames", Array)
"""Ascending frames at which motion is sampled and solved: those that get keys, and moments between or beside them."""

KeyFrames = NewType("KeyFrames", Array)
"""Ascending frames that get keys. A type of its own, so that samples beside the first or last key are not taken for keys."""
