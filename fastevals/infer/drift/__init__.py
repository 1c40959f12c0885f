"""Drift of scores: the call (`drift`), samples (`samples`), distances (`measures`), p-values (`significance`)."""
