"""Rows on any number of machines: what Spark and Dask have in common.

An engine brings the rows in partitions to its workers, and bytes back. What is counted there are tasks; what is asked
for, and how answers are read, is here.
"""
