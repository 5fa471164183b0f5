"""``train --memory SIZE``: training on more documents than fit into memory."""
