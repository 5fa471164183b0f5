"""``python -m widemargin`` is the same as ``widemargin``."""

import sys

from widemargin.cli import main

# Worker processes of a cluster import this module again, and must not run the command again.
if __name__ == "__main__":
    sys.exit(main())
