"""Read files and public collections as documents: an id, a text, and labels, if known.

`reading` opens files of every format, `corpora` the collections that papers use, and `demo` a corpus that
needs no download.
"""
