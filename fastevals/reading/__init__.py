"""Rows in: files, frames, streams and arrays as pieces of checked rows."""
