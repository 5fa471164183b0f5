"""Tables whose cells have types: Parquet, Excel, saved datasets and the results of queries."""
