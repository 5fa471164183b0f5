"""Chapter 8: the solvers that the thesis compares with."""
