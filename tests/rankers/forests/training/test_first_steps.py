import subprocess
import sys

import pytest

import pomona as pm
from pomona.rankers.forests.training import first_steps

_KERNELS = """
import sys
from pomona.rankers.forests.training.first_steps import take_first_steps
def compiled():
    return {
        (kernel.py_func.__qualname__, version)
        for name, module in list(sys.modules.items())
        if name.startswith("pomona")
        for kernel in list(vars(module).values())
        if hasattr(kernel, "py_func")
        for version in kernel.overloads
    }
take_first_steps()
assert "sklearn" not in sys.modules
ahead = compiled()
import pomona as pm
train, valid = pm.simulate(60, docs_per_query=20, n_features=10, seed=1).split([0.7, 0.3])
pm.LambdaMART(n_trees=3).fit(train, valid=valid)
print(sorted(name for name, _ in compiled() - ahead))
print(sorted(name for name, _ in ahead - compiled()))
"""


def test_little_is_left_to_compile_for_a_first_fit():
    ran = subprocess.run([sys.executable, "-c", _KERNELS], check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines() == ["['_add_values', '_hash_rows', '_lead_ranges', '_walk']", "[]"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_forest_that_is_asked_for_is_prepared_once_on_a_machine(monkeypatch, is_first):
    begun = []
    monkeypatch.setattr(first_steps, "call_beside", begun.append)
    monkeypatch.setattr(first_steps, "is_first_run", lambda kernels: is_first)
    pm.__getattr__("Dataset")
    assert not begun
    pm.__getattr__("LambdaMART")
    assert begun == [first_steps.take_first_steps] * is_first
