"""The network itself, as plain arrays and in PyTorch, and the scale of the features that it reads."""
