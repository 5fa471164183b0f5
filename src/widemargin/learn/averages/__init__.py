"""Averages of several machines."""
