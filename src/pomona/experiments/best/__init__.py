"""The search for the best ranker within a time: what is tried, by what it is judged, what is made of it."""
