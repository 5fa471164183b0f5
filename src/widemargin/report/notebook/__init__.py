"""What Jupyter shows of classifiers, explanations, tables and plots."""
