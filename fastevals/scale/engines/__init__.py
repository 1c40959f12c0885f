"""Rows on any number of machines: what Spark and Dask have in common.

An engine brings rows in partitions to its workers, and returns bytes. Tasks count the rows; the requests, and how
answers are read, are here.
"""
