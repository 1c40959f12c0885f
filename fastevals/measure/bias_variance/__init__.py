"""Bias and variance of models from their predictions."""
