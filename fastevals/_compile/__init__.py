"""The machinery of compilation: when a kernel is compiled and how, where it is kept, and what runs in its place."""
