"""Compilation: when and how a kernel is compiled, where it is cached, and what runs instead without a compiler."""
