"""What a program writes to a pseudo-terminal."""

from __future__ import annotations

import os


def read_terminal(leader: int) -> bytes:
    """All that is written to the other end until it is closed; closes this one."""
    shown = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(leader)
    return shown
