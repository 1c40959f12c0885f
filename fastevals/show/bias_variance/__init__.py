"""`fastevals bias-variance`: bias and variance of many models' predictions."""
