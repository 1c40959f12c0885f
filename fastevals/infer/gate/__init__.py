"""A gate: rules, the evidence on them, and decisions."""
