"""Rows on any number of machines: the code that Spark and Dask share.

An engine distributes partitions of rows to its workers, and returns bytes. Tasks count the rows. This package makes the
requests and reads the answers.
"""
