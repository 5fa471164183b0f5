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
from widemargin.measure.comparison import ComparedMethods, ComparedPair, compare_decisions
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
from widemargin.measure.ranking import average_precision, precision_at
from widemargin.measure.resampling import bootstrap_test, randomization_test
from widemargin.measure.significance import (
    Comparison,
    holm,
    macro_rank_test,
    macro_sign_test,
    macro_t_test,
    mcnemar,
    micro_sign_test,
    paired_t_test,
    proportions_test,
    rank_t_test,
    sign_p_value,
    sign_test,
)
from widemargin.measure.summary import Summary, summarize
from widemargin.measure.xi_alpha import leave_one_out_risk, xi_alpha_table

__all__ = [
    "ComparedMethods",
    "ComparedPair",
    "Comparison",
    "Contingency",
    "Curve",
    "Figure",
    "Summary",
    "average_precision",
    "bootstrap_interval",
    "bootstrap_test",
    "break_even_table",
    "clopper_pearson",
    "compare_decisions",
    "confusion",
    "contingency",
    "cost",
    "error_rate",
    "f_measure",
    "hamming_loss",
    "holm",
    "leave_one_out_risk",
    "macro",
    "macro_rank_test",
    "macro_sign_test",
    "macro_t_test",
    "mcnemar",
    "micro",
    "micro_prbep",
    "micro_sign_test",
    "paired_t_test",
    "prbep",
    "precision",
    "precision_at",
    "precision_at_recall",
    "precision_recall_average",
    "precision_recall_curve",
    "proportions_test",
    "randomization_test",
    "rank_t_test",
    "recall",
    "sign_p_value",
    "sign_test",
    "summarize",
    "xi_alpha_table",
]
