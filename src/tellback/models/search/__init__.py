"""Finding the responses with the highest optimistic estimate, f . g + k |g| in Sigma^-1.

``scan`` looks at every response, ``pruned`` only at clusters that may hold the best: both find
the same. ``approximate`` may miss the best.
"""
