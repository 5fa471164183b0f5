"""Leave-one-out of learners with dual variables: what each of them offers, winners, scores by one step."""
