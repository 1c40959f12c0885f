"""Slow twins: what each fast function computes, written straight from its definition, most of them in fractions."""
