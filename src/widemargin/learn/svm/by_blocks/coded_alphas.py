"""Dual variables in two bits for each label and row, with the values of those between their bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from widemargin.learn.svm.by_blocks.row_source import RowSource

Floats = NDArray[np.float64]

# The codes of the core (core/linear/by_blocks/coded_alphas.hpp).
_AT_UPPER, _BETWEEN = 1, 2
_BETWEEN_IN_BYTE = np.array([sum(byte >> shift & 3 == 2 for shift in (0, 2, 4, 6)) for byte in range(256)])


@dataclass
class CodedAlphas:
    """The dual variables of all rows of a source: 0, the cost of the row, or a value between them.

    Attributes
    ----------
    columns : (labels,) their columns in the source
    cost_positive, cost_negative : (labels,)
    codes : for each label, four rows to a byte
    between : for each label, the values between the bounds, in the order of the rows
    """

    columns: NDArray[np.int32]
    cost_positive: Floats
    cost_negative: Floats
    codes: list[NDArray[np.uint8]]
    between: list[Floats]

    @property
    def n_bytes(self) -> int:
        """The memory that they take."""
        return sum(part.nbytes for part in self.codes) + sum(part.nbytes for part in self.between)

    def codes_of(self, label: int, start: int, stop: int) -> NDArray[np.uint8]:
        """The codes of consecutive rows: 0 at zero, 1 at the upper bound, 2 between."""
        some = self.codes[label][start // 4 : (stop + 3) // 4]
        codes = np.stack([some >> shift & 3 for shift in (0, 2, 4, 6)], axis=1).reshape(-1)
        return codes[start % 4 : start % 4 + stop - start]

    def of(
        self, source: RowSource, block: int, weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """The dual variables of one block, (rows, labels).

        Parameters
        ----------
        weights : of the rows of the block, if others than those of the source were trained with
        """
        start, stop = source.first_rows[block : block + 2].tolist()
        weights = source.weights(block) if weights is None else weights
        signs = label_signs(source, block, self.columns)
        alphas = np.zeros((stop - start, len(self.columns)))
        for label in range(len(self.columns)):
            codes = self.codes_of(label, start, stop)
            upper = np.where(signs[:, label] > 0, self.cost_positive[label], self.cost_negative[label])
            upper = upper if weights is None else upper * weights
            alphas[:, label] = np.where(codes == _AT_UPPER, upper, 0.0)
            free = codes == _BETWEEN
            first = self._between_before(label, start)
            alphas[free, label] = self.between[label][first : first + np.count_nonzero(free)]
        return alphas

    def _between_before(self, label: int, row: int) -> int:
        """How many rows before this one have a value between."""
        whole, more = divmod(row, 4)
        bytes_before = self.codes[label][:whole]
        count = int(_BETWEEN_IN_BYTE[bytes_before].sum())
        return count + int(np.count_nonzero(self.codes_of(label, row - more, row) == _BETWEEN))


def label_signs(source: RowSource, block: int, columns: NDArray[np.int32]) -> NDArray[np.int8]:
    """+1 and -1 for the rows of a block, (rows, labels), of some label columns."""
    first, labels = source.labels(block)
    place = np.full(max(int(columns.max(initial=0)), int(labels.max(initial=0))) + 1, -1, dtype=np.int64)
    place[columns] = np.arange(len(columns))
    signs = np.full((len(first) - 1, len(columns)), -1, dtype=np.int8)
    rows, found = np.repeat(np.arange(len(first) - 1), np.diff(first)), place[labels[first[0] : first[-1]]]
    signs[rows[found >= 0], found[found >= 0]] = 1
    return signs
