"""fastevals inside other tools: one file per tool, which is imported only where it is used.

Importing a file of this package loads neither its tool nor anything else of fastevals.
"""
