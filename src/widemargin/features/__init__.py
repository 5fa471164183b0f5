"""Which features a learner sees: scores and samples of them, and features made of others."""
