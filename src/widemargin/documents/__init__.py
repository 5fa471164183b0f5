"""From files and public collections to documents: an id, a text, and what is known about its labels.

`reading` opens files of every format, `corpora` the collections that papers use, `demo` the one that needs no
download.
"""
