"""n-gram profiles: dissimilarities of distributions, nearest profiles, Markov models, kernels for SVMs."""
