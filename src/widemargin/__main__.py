"""``python -m widemargin`` is the same as ``widemargin``."""

import sys

from widemargin.cli import main

sys.exit(main())
