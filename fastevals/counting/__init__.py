"""Turn arrays into counts: sort scores by key, number labels, count pairs of labels, and code groups."""
