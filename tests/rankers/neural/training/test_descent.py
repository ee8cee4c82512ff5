import subprocess
import sys

import pytest
import torch

from pomona.rankers.neural.training.descent import Descent


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_steps_are_those_of_pytorch(optimizer, momentum):
    generator = torch.Generator().manual_seed(0)
    ours = torch.randn(7, generator=generator, requires_grad=True)
    theirs = ours.detach().clone().requires_grad_()
    cls = {"adam": torch.optim.AdamW, "sgd": torch.optim.SGD}[optimizer]
    options = {"momentum": momentum} if optimizer == "sgd" else {}
    reference = cls([theirs], lr=0.1, weight_decay=0.01, **options)
    descent = Descent(ours, optimizer, momentum, 0.01)
    for rate in (0.1, 0.05, 0.025):
        gradient = torch.randn(7, generator=generator)
        theirs.grad, reference.param_groups[0]["lr"] = gradient.clone(), rate
        reference.step()
        descent.step(gradient, rate)
        assert ours.tolist() == pytest.approx(theirs.tolist(), rel=1e-5)


def test_a_fit_loads_no_compiler():
    """It would take longer than many a training."""
    code = """
import sys, pomona as pm
pm.ListNet(n_epochs=1, device="cpu").fit(pm.simulate(5, docs_per_query=5, n_features=4, seed=0))
print([name for name in ("torch._dynamo", "sympy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
