"""Dagan, Karov and Roth, Mistake-Driven Learning in Text Categorization."""
