"""The command line: ``widemargin VERB``, one file per verb.

Verbs import what they work with when they run, so that ``widemargin --help`` answers at once.
"""

from widemargin.cli.app import main

__all__ = ["main"]
