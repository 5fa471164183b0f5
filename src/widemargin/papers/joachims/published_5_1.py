"""The printed figures of Joachims (2000), Tables 5.1 to 5.3.

Each line is a category: mean and standard deviation by hold-out test, leave-one-out, xi-alpha with rho = 1
and with rho = 2; of the error and F1 in the upper half of a table, of recall and precision in its lower half.
"""

from __future__ import annotations

from widemargin.papers.joachims.estimators import ESTIMATORS, MEASURES

# category -> estimator -> (mean of each measure, deviation of each measure)
Figures = dict[str, dict[str, tuple[tuple[float, ...], tuple[float, ...]]]]

_REUTERS = (
    """
    earn      1.87 0.15  2.14 0.08  2.68 0.08   6.79 0.21   96.9 0.2  96.4 0.1  95.4 0.1  88.3 0.4
    acq       2.53 0.20  2.54 0.14  3.54 0.16  12.99 0.28   93.1 0.4  92.9 0.4  90.0 0.5  62.5 1.2
    money-fx  1.92 0.14  2.05 0.10  2.67 0.12   5.38 0.22   80.9 1.4  79.6 1.3  73.0 1.4  44.2 1.8
    grain     0.82 0.11  0.95 0.10  1.23 0.09   3.20 0.19   89.9 1.2  88.5 1.5  84.7 1.2  57.9 2.0
    crude     1.30 0.10  1.22 0.04  1.58 0.08   3.69 0.20   83.9 1.3  84.9 0.8  80.6 1.0  52.6 2.1
    trade     1.42 0.10  1.58 0.13  1.99 0.11   3.80 0.15   78.3 1.6  76.7 1.9  70.0 1.7  41.4 1.9
    interest  1.67 0.20  1.76 0.17  2.20 0.18   4.19 0.26   73.6 3.4  72.2 3.7  64.5 4.4  32.8 4.6
    ship      0.96 0.13  1.06 0.10  1.23 0.10   2.21 0.08   74.0 2.9  68.8 4.0  62.7 5.0  26.6 3.5
    wheat     0.65 0.08  0.71 0.08  0.91 0.07   1.79 0.14   82.3 1.4  81.7 1.4  75.6 1.2  52.2 1.9
    corn      0.71 0.06  0.73 0.05  0.90 0.05   1.72 0.12   76.1 1.3  75.6 1.5  68.1 3.6  37.6 2.2
    """,
    """
    earn      94.8 0.5  93.7 0.3  92.3 0.3  84.4 0.4   99.1 0.1  99.2 0.1  98.8 0.1  92.7 0.5
    acq       92.5 0.5  91.3 0.7  88.1 0.8  59.3 1.4   93.6 0.7  94.6 0.4  92.1 0.4  66.0 1.2
    money-fx  73.6 2.4  71.9 1.8  64.9 2.0  38.4 2.0   89.8 1.9  89.1 1.6  83.4 1.4  52.1 1.8
    grain     82.7 2.1  79.9 2.4  74.4 1.7  48.1 2.0   98.5 0.5  99.1 0.5  98.2 0.8  72.8 1.8
    crude     76.6 2.6  76.9 1.6  72.5 1.7  45.3 2.1   92.7 1.2  94.8 0.8  90.9 1.0  62.8 2.4
    trade     70.0 2.4  67.6 2.8  60.4 2.1  34.7 1.8   89.0 1.5  88.8 0.9  83.5 1.3  51.2 2.2
    interest  63.8 4.3  61.8 5.1  54.0 5.2  27.5 4.2   87.2 2.8  87.2 2.3  80.2 2.9  40.8 5.0
    ship      61.2 3.9  54.0 5.3  47.5 5.6  18.2 2.6   93.8 2.5  95.6 1.5  93.3 1.9  49.4 5.2
    wheat     71.1 2.3  70.4 1.6  62.8 1.8  43.2 1.8   97.8 1.0  97.5 1.3  95.0 1.5  65.8 2.7
    corn      61.8 1.7  61.3 2.3  52.4 4.1  28.1 2.1   99.1 0.6  98.7 0.8  97.3 1.8  57.1 3.2
    """,
)
_WEBKB = (
    """
    course   2.43 0.34   2.75 0.26   3.48 0.30  11.93 0.47   94.2 0.8  93.4 0.7  91.6 0.7  68.9 1.4
    faculty  9.80 0.33  11.19 0.51  13.40 0.64  31.98 0.78   79.0 0.7  74.7 1.4  68.9 1.8  28.4 1.9
    project  7.75 0.34   8.69 0.40   9.56 0.46  14.80 0.23   53.3 3.1  44.4 3.8  35.9 4.8   3.6 1.4
    student  7.64 0.36   7.95 0.42  10.14 0.59  32.42 0.50   89.9 0.4  89.5 0.6  86.4 0.8  55.9 0.8
    """,
    """
    course   90.7 1.2  88.7 1.0  85.9 1.2  60.0 1.8   98.0 0.5  98.7 0.4  98.0 0.3  81.0 1.2
    faculty  69.2 1.0  61.8 1.7  55.7 2.2  23.8 1.7   92.2 1.3  94.5 1.3  90.5 1.2  35.3 2.2
    project  37.0 3.1  29.0 3.1  22.4 3.6   2.3 0.9   95.9 1.2  95.2 1.5  91.3 2.5   8.2 3.0
    student  87.0 0.4  86.1 1.0  82.3 0.9  52.5 1.1   93.0 0.6  93.2 0.8  90.9 0.7  59.8 0.6
    """,
)
_OHSUMED = (
    """
    Pathology       18.56 0.36  18.79 0.24  20.96 0.22  33.33 0.50   39.1 1.4  37.5 1.7  29.5 1.6   9.3 0.7
    Cardiovascular   7.13 0.15   7.23 0.21   8.73 0.24  15.41 0.25   74.1 0.7  73.0 1.3  66.7 1.3  41.7 1.1
    Neoplasms        5.42 0.14   5.56 0.13   6.51 0.15  11.77 0.21   78.8 0.6  78.2 0.7  73.8 0.7  52.1 0.9
    Nervous System   7.31 0.15   7.42 0.22   8.41 0.21  13.22 0.19   53.6 1.2  51.2 2.3  42.8 2.5  15.5 1.3
    Immunologic      5.28 0.22   5.33 0.14   6.04 0.19   9.37 0.29   60.5 1.0  59.4 1.0  52.3 1.1  27.3 1.3
    """,
    """
    Pathology       25.8 1.3  24.3 1.5  18.9 1.2   7.4 0.6   81.2 2.1  82.0 0.9  67.0 1.0  12.6 0.9
    Cardiovascular  64.0 0.8  62.0 1.7  55.3 1.5  34.9 1.1   88.0 0.8  88.9 0.6  84.0 1.0  51.8 1.1
    Neoplasms       67.3 0.8  66.0 1.0  60.7 1.0  42.4 1.0   95.2 0.6  95.8 0.4  94.0 0.4  67.6 1.0
    Nervous System  38.3 1.3  36.0 2.4  29.0 2.3  11.2 1.0   89.6 1.5  89.4 0.8  82.0 1.1  25.4 1.8
    Immunologic     45.4 1.2  44.0 1.0  37.5 1.1  19.8 1.1   90.8 1.0  91.3 0.8  86.8 1.2  43.6 1.6
    """,
)


def _parsed(halves: tuple[str, str]) -> Figures:
    found: dict[str, list[float]] = {}
    for half in halves:
        for line in half.strip().splitlines():
            name, *numbers = line.strip().rsplit(maxsplit=4 * len(ESTIMATORS))
            found.setdefault(name, []).extend(map(float, numbers))
    step = 2 * len(ESTIMATORS)
    last = step * len(MEASURES)
    return {
        name: {
            estimator: (tuple(figures[2 * k : last : step]), tuple(figures[2 * k + 1 : last : step]))
            for k, estimator in enumerate(ESTIMATORS)
        }
        for name, figures in found.items()
    }


REUTERS, WEBKB, OHSUMED = (_parsed(halves) for halves in (_REUTERS, _WEBKB, _OHSUMED))
