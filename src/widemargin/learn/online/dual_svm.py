"""The SVM, trained by the Perceptron-like dual updates of Zhang, section 2.1."""

from __future__ import annotations

from widemargin.learn.online.dual_updates import DualUpdates


class DualSVM(DualUpdates):
    """Soft-margin SVM whose dual variables move by ``eta (1 - y w.x)``, within [0, C].

    A Perceptron with a margin, for streams and for comparisons with Winnow. If all documents are available,
    :class:`~widemargin.LinearSVM` solves the same problem faster.

    Parameters
    ----------
    C : cost of a margin error; ``numpy.inf`` for the hard margin
    eta : "newton" for ``1 / x.x``, the exact maximum of the dual over one variable; or a fixed rate, which
        overshoots on documents with ``eta x.x > 2`` (a warning is issued if the dual objective decreases)
    bias : size of the constant feature, whose weight is regularized like the others; None for no bias
    class_weight : as in :class:`~widemargin.LinearSVM`
    tol : stop when the duality gap is at most this fraction of the objective; None makes all passes
    max_iter : maximum number of passes of `fit`
    shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.Perceptron`

    Attributes
    ----------
    coef_, intercept_, alpha_, objective_, duality_gap_, smallest_margin_, n_iter_, documents_seen_,
    documents_wrong_ :
        as in :class:`~widemargin.LargeMarginWinnow`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> DualSVM(C=10).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """
