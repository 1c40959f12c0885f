"""Slow twins: each fast function written straight from its definition, mostly in fractions."""
