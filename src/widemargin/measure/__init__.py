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
    precision_recall_average,
    recall,
)
from widemargin.measure.intervals import Figure, bootstrap_interval, clopper_pearson
from widemargin.measure.significance import Discordant, mcnemar
from widemargin.measure.summary import Summary, summarize
from widemargin.measure.xi_alpha import leave_one_out_risk, xi_alpha_table

__all__ = [
    "Contingency",
    "Curve",
    "Discordant",
    "Figure",
    "Summary",
    "bootstrap_interval",
    "break_even_table",
    "clopper_pearson",
    "confusion",
    "contingency",
    "cost",
    "error_rate",
    "f_measure",
    "hamming_loss",
    "leave_one_out_risk",
    "macro",
    "mcnemar",
    "micro",
    "micro_prbep",
    "prbep",
    "precision",
    "precision_at_recall",
    "precision_recall_average",
    "precision_recall_curve",
    "recall",
    "summarize",
    "xi_alpha_table",
]
