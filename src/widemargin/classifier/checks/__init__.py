"""Quick checks at the door: mistakes in training documents, and documents that do not suit a model.

They take little time, say what to do, and are silent unless a mistake is all but certain. What is hard, wrong
or missing in a collection takes longer to find: :mod:`widemargin.diagnose`.
"""
