"""The solvers behind the linear methods: what they minimize with, search along, or draw from."""
