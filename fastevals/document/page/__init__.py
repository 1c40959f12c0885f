"""Pages: a result as one file of HTML, with pictures that follow a threshold."""
