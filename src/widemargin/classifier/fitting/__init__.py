"""What `fit` of a classifier does, apart from it: tuning and estimates take long to import."""
