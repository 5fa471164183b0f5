"""Balanced Winnow of Dagan, Karov and Roth: a weight for and a weight against every feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np

import widemargin._core as _core
from widemargin._arrays import place_of
from widemargin._parameters import one_of, parameter
from widemargin.errors import DataError, UsageError
from widemargin.learn.online.mistake_driven import Start
from widemargin.learn.online.stream_rows import Documents
from widemargin.learn.online.threshold_range import Multiplicative


@dataclass(eq=False, repr=False)
class BalancedWinnow(Multiplicative):
    """Winnow with a positive and a negative weight per feature, whose difference is the weight.

    They start with ``2 threshold / d`` and ``threshold / d``. Only weights of active features are updated.

    With updates="all" it is Littlestone's simpler version: positive Winnow over twice as many features, each
    feature and its complement, which is active in a document without the feature. Every mistake then
    multiplies one of the two weights of all features, which all start with ``threshold / n`` for n features.

    Parameters
    ----------
    promotion, demotion : a false negative multiplies the positive weights by `promotion` and the negative
        ones by `demotion`; a false positive the other way round
    updates : which weights a mistake updates: "active", of the features of the document, or "all", for binary
        documents; without `document_length`, `discard_below`, `link` and `average`
    threshold, threshold_range, document_length, discard_below, filtering_range, link, average, max_iter,
    shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.PositiveWinnow`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, n_discarded_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> BalancedWinnow(promotion=1.5, demotion=0.5).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """

    _: KW_ONLY
    updates: Literal["active", "all"] = parameter("active", one_of("active", "all"))

    @property
    def _kind(self) -> _core.MistakeRule:  # type: ignore[override]
        rules = _core.MistakeRule
        return rules.complement_winnow if self.updates == "all" else rules.balanced_winnow

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.updates == "active":
            return
        for name, without in (
            ("document_length", None),
            ("discard_below", None),
            ("link", "all"),
            ("average", None),
        ):
            if getattr(self, name) != without:
                raise UsageError(f'{name} does not apply to updates="all". Pass {name}={without!r}.')

    def _check_documents(self, documents: Documents) -> None:
        super()._check_documents(documents)
        csr = documents.csr
        if self.updates == "active":
            return
        odd = np.flatnonzero((csr.data != 0) & (csr.data != 1))
        if len(odd):
            row, column = place_of(csr, int(odd[0]))
            raise DataError(
                f'updates="all" is for binary documents, and X holds {csr.data[odd[0]]:g} in row {row}, '
                f'column {column}. Pass 0 and 1 (weighting "bxx", --weighting bxx), or updates="active".'
            )

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        if self.updates == "all":  # n of the 2n features are active in every document
            return {"document_length": float(max(documents.csr.n_columns, 1))}
        return super()._constants_from(documents)

    @property
    def documents_to_begin(self) -> int:
        return 1 if self.updates == "all" else super().documents_to_begin

    def _start(self) -> Start:
        share = self._even_share()
        if self.updates == "all":
            return Start(0.0, share, share)
        return Start(2 * share - share, 2 * share, share)

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        columns = super()._fresh_columns()
        if self.updates == "all":
            share = self._even_share()
            columns |= {"complements": (share * self.n_features_in_, float), "unseen": (share, float)}
        return columns

    def _offsets(self) -> Any:
        return self._columns["complements"] if self.updates == "all" else 0.0

    def grow(self, n_features: int) -> Self:
        """Add columns for new features, which no document has had."""
        old = getattr(self, "n_features_in_", 0)
        super().grow(n_features)
        if self.updates == "all":
            unseen, parts = self._columns["unseen"], self._cells["parts"]
            parts[old:, :, 1] = unseen
            self._cells["weights"][old:] = parts[old:, :, 0] - unseen
            self._columns["complements"] += (n_features - old) * unseen
        return self

    def _within_one_step(self) -> tuple[float, float]:
        _, plus, minus = self._start()
        up = plus * self.promotion - minus * self.demotion
        return plus * self.demotion - minus * self.promotion, up
