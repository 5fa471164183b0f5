"""Where documents come from: files, folders, archives, standard input and databases.

`finding` turns arguments into what a reader opens, `byte_source` opens it, and `formats` parses it.
"""
