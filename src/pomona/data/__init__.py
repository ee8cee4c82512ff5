"""Data: reading, holding, splitting, describing and simulating queries with labelled documents."""
