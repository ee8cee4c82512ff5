import pytest

from pomona.errors import InputError
from pomona.trees import device


def test_the_cpu_needs_no_gpu(monkeypatch):
    monkeypatch.setattr(device, "_problem", lambda: 1 / 0)
    assert not device.is_on_gpu("cpu")


def test_a_gpu_is_used(monkeypatch):
    monkeypatch.setattr(device, "_problem", lambda: None)
    assert device.is_on_gpu("cuda")
    assert device.is_on_gpu("auto")


def test_without_a_gpu(monkeypatch):
    monkeypatch.setattr(device, "_problem", lambda: "no driver")
    with pytest.raises(InputError, match=r"no GPU to grow trees on \(no driver\): use device='cpu'"):
        device.is_on_gpu("cuda")
    with pytest.warns(UserWarning, match=r"\(no driver\): they grow on the CPU"):
        assert not device.is_on_gpu("auto")
