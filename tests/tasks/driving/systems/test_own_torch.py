"""Drivers of one's own as torch networks: what they may give, and what is refused in one line."""

from __future__ import annotations

import numpy as np
import pytest

from instar.core.errors import BadInput

pytestmark = pytest.mark.real  # torch

MODULE = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    def forward(self, x):
        return x.mean(dim=(1, 2, 3))[:, None] * self.gain

class Heads(Net):
    def forward(self, x):
        both = super().forward(x)
        return both[:, :1], both[:, 1:]

class Named(Net):
    def forward(self, x):
        return {"speed": super().forward(x)}

class Broken(Net):
    def __init__(self):
        raise RuntimeError("no weights\\nat all")

number = 3
ready = Net()
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"own_nets_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return name


@pytest.mark.parametrize("attribute", ["Net", "Heads", "ready"])
def test_a_network_may_give_its_numbers_together_or_apart(module, attribute):
    from instar.tasks.driving.systems.torch_network import torch_driver

    driver = torch_driver(network=f"{module}:{attribute}", outputs="speed,steering", height=20, width=40)
    (control,) = driver.predict([np.full((40, 80, 3), 51, np.uint8)])
    assert (control.speed, control.steering) == pytest.approx((0.2, 0.4))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"network": "{}:Named"},
            "cannot be asked: TypeError: the network gave a dict; it must give tensors",
        ),
        ({"network": "{}:Net", "outputs": "steering"}, "the network gave 2 numbers for steering"),
        ({"network": "{}:Broken"}, "cannot be made: RuntimeError: no weights at all"),
        ({"network": "{}:number"}, "is of type int; it must be a torch.nn.Module"),
        ({"network": "{}:Net", "height": 0}, "height is 0; it must be a whole number"),
        ({"network": "{}:Net", "weights": "whole.pt"}, "whole.pt is no state_dict; save one by"),
        ({"network": "{}:Net", "weights": "other.pt"}, "other.pt has no weights for this network: .*gain"),
    ],
)
def test_what_is_no_driver_is_refused_in_one_line(module, options, complaint):
    import torch

    from instar.tasks.driving.systems.torch_network import torch_driver

    torch.save({"other": torch.zeros(1)}, "other.pt")
    torch.save({"x": object()}, "whole.pt")
    given = {"outputs": "speed,steering", **options, "network": options["network"].format(module)}
    with pytest.raises(BadInput, match=complaint) as refused:
        torch_driver(**given)
    assert "\n" not in str(refused.value)
