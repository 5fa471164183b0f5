"""Parts of HTML pages, for reports, notebooks and the service.

Every text goes through :func:`widemargin.report.html.escaping.escaped`.
"""
