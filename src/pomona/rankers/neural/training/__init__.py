"""How a network is trained: mini-batches, steps down the gradient, schedules, and the loop over epochs."""
