"""Splits of rows into training and test parts."""
