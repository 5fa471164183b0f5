"""What a report of a model says: the model, its test documents, and two models side by side.

::

    model, documents --measuring--> truth, scores, decisions --tradeoffs, errors, copies--> ModelReport
    ModelReport --report.html--> one page

`reporting` puts these together.
"""
