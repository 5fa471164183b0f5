"""The unit in which work is predicted: one non-zero value visited once for one label.

Predictions come from counts, never from the clock, so that the same data gives the same choices whatever the
load of the machine or the number of threads.
"""

# Units per second. A LinearSVM on one core of a 2023 server reaches 3e8 to 2e9 (Reuters-21578, 20
# Newsgroups).
RATE = 4e8
