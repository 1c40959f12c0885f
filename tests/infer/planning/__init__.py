"""Tests of planned sample sizes."""
