"""`fastevals report`: how good models are, how certain that is, and whether they differ."""
