"""Trees: from features to bins, from gradients to histograms, splits and trees, and their flat forest."""
