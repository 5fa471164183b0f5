"""A model behind HTTP: labels, scores and explanations for other programs (the extra ``serve``).

    requests (guard) -> messages -> served models -> scores -> answers

:func:`widemargin.serve.server.run_server` is the entry. Models are watched and swapped while requests are
served (:mod:`widemargin.serve.registry`).
"""
