"""Learning from labeled and unlabeled documents, by any learner: self-training, relevance feedback."""
