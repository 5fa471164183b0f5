"""How good predictions are: arrays of signs and scores in, numbers out."""

from widemargin.measure.averages import macro, micro
from widemargin.measure.break_even import (
    Curve,
    break_even_table,
    micro_prbep,
    prbep,
    precision_at_recall,
    precision_recall_curve,
)
from widemargin.measure.contingency import (
    Contingency,
    confusion,
    contingency,
    cost,
    error_rate,
    f_measure,
    hamming_loss,
    precision,
    recall,
)
from widemargin.measure.summary import Summary, summarize

__all__ = [
    "Contingency",
    "Curve",
    "Summary",
    "break_even_table",
    "confusion",
    "contingency",
    "cost",
    "error_rate",
    "f_measure",
    "hamming_loss",
    "macro",
    "micro",
    "micro_prbep",
    "prbep",
    "precision",
    "precision_at_recall",
    "precision_recall_curve",
    "recall",
    "summarize",
]
