"""Bootstrap: draws of rows, counted by cell; metrics of the draws; intervals from those."""
