"""Leave-one-out of support vector machines: linear ones, and those with a kernel."""
