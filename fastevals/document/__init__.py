"""Documents: what results say, as plain data, and the renderers that write it."""
