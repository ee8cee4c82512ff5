"""Array aliases, each with the reason for its precision."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Features: TypeAlias = NDArray[np.float32]
"""Feature values: LETOR files carry about six digits, and float32 halves the memory of every pass."""

Labels: TypeAlias = NDArray[np.float32]
"""Graded truth: small numbers, real-valued at most; float32 holds every integer grade exactly."""

Scores: TypeAlias = NDArray[np.float64]
"""Model output: float64, because tools that read scores as doubles see fewer ties than float32 would."""

Values: TypeAlias = NDArray[np.float64]
"""Measure values and everything summed over documents or queries."""

Codes: TypeAlias = NDArray[np.int32]
"""A document's label as an index into the sorted distinct labels (any real-valued label fits)."""

Offsets: TypeAlias = NDArray[np.int64]
"""`query_ptr` and row numbers: query q is rows `query_ptr[q]:query_ptr[q + 1]`, for data of any size."""
