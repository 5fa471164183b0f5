"""Leave-one-out of support vector machines: what each of them offers, exact scores, and those of one step."""
