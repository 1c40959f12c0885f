"""The gate: whether a model may ship, decided by rules."""
