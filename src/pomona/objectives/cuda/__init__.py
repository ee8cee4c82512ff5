"""Objectives whose derivatives are computed on a GPU: the same bits as the CPU's."""
