"""A fitted classifier in a notebook: what it is, and how good it is estimated to be."""

from __future__ import annotations

from typing import Any

LABELS = 10  # of the table of estimates


class ShownInNotebooks:
    """Estimators whose notebook view is a card once they are fitted.

    scikit-learn's diagram is inside the card, folded; before `fit` it is all there is.
    """

    def _html_repr(self: Any) -> str:
        from sklearn.utils import estimator_html_repr

        diagram: str = estimator_html_repr(self)
        return card(self, diagram) if hasattr(self, "learner_") else diagram

    def _repr_html_inner(self: Any) -> str:
        shown: str = self._html_repr()
        return shown

    def _repr_mimebundle_(self: Any, **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        # scikit-learn's setting `display` decides whether there is HTML.
        return {**found, "text/html": self._html_repr()} if "text/html" in found else found


def card(classifier: Any, diagram: str) -> str:
    """The card of a fitted TextClassifier; `diagram` is scikit-learn's."""
    # On first use: showing a classifier needs more than using it.
    from widemargin.measure.quality import Quality
    from widemargin.report.estimates import quality_table
    from widemargin.report.html.escaping import escaped, isolated
    from widemargin.report.notebook.style import framed
    from widemargin.report.notebook.tables import table_html

    summary = classifier.training_summary_
    made = " → ".join(
        type(part).__name__
        for part in (classifier.vectorizer_, classifier.features_, classifier.learner_)
        if part is not None
    )
    counts = f"{summary['documents']:,} documents, {summary['labels']:,} labels, {summary['terms']:,} terms"
    parts = [f"<p><strong>TextClassifier</strong>: {escaped(made)}<br>{escaped(counts)}</p>"]
    if "estimates" in summary:
        quality = Quality.from_dict(summary["estimates"])
        parts.append(table_html(quality_table(quality, f"Estimated by {quality.method}", LABELS)))
    else:
        names = [str(label) for label in classifier.classes_.tolist()]
        more = f" and {len(names) - LABELS:,} more" if len(names) > LABELS else ""
        parts.append(f"<p>Labels: {', '.join(map(isolated, names[:LABELS]))}{more}. Not estimated.</p>")
    parts.append(f"<details><summary>Parameters</summary>{diagram}</details>")
    return framed(*parts)
