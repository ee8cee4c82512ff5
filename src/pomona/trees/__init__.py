"""Trees: from features to bins, from gradients to histograms, splits and trees, and the flat forest they make."""
