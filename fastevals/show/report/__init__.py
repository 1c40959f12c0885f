"""`fastevals report`: how good models are, how sure that is, and how they differ."""
