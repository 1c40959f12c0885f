"""Tests between learners: from a measured difference to a decision."""
