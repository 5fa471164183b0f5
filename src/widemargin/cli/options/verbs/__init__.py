"""Options of single verbs."""
