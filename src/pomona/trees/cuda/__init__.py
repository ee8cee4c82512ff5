"""Trees on a GPU: the steps of `trees.divide` as kernels, the same bits as the CPU."""
