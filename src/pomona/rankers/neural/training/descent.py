"""Steps down the gradient: Adam (Kingma & Ba 2015, its weight decay Loshchilov & Hutter's of 2019) or SGD.

These are PyTorch's own steps, called as functions. Its optimizer classes import a compiler when the first of
them is made, and that takes longer than many a training here.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim.adamw import adamw
from torch.optim.sgd import sgd


class Descent:
    """Moves parameters, step by step.

    Parameters
    ----------
    parameters : one vector, changed in place.
    optimizer : `adam` or `sgd`.
    momentum : of `sgd`.
    l2 : weight decay.

    Attributes
    ----------
    n_steps : how many steps Adam has made, on the device.
    """

    def __init__(self, parameters: Tensor, optimizer: str, momentum: float, l2: float) -> None:
        self._parameters = [parameters.detach()]  # the same memory, but steps are not themselves derived
        self._is_adam, self._momentum, self._l2 = optimizer == "adam", momentum, l2
        self._means, self._squares = torch.zeros((2, *parameters.shape), device=parameters.device)
        self.n_steps = torch.zeros((), device=parameters.device)
        self._buffers: list[Tensor | None] = [None]

    def step(self, gradient: Tensor, learning_rate: float | Tensor) -> None:
        """Move against the gradient; the rate of Adam may be on the device too."""
        if self._is_adam:
            adamw(
                self._parameters,
                [gradient],
                [self._means],
                [self._squares],
                [],
                [self.n_steps],
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=learning_rate,
                weight_decay=self._l2,
                eps=1e-8,
                maximize=False,
            )
        else:
            sgd(
                self._parameters,
                [gradient],
                self._buffers,
                weight_decay=self._l2,
                momentum=self._momentum,
                lr=float(learning_rate),
                dampening=0.0,
                nesterov=False,
                maximize=False,
            )
