"""Losses in PyTorch, for training on a GPU: the objectives of `pomona.objectives` on padded batches.

Each is made for one batch and stays on the device; called with the batch's scores, it returns the loss of
every query (or None where there is only a gradient) and the gradient. Nothing waits for the device.
"""
