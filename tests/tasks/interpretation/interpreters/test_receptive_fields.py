"""Maps are drawn where their cells look, whatever strides, paddings and pools a network has."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra torch is not installed")

from torch import nn  # noqa: E402
from torch.nn import functional as f  # noqa: E402

from instar.adapters.classifier import Classifier  # noqa: E402
from instar.tasks.interpretation.answers import Asked  # noqa: E402
from instar.tasks.interpretation.interpreters import make_interpreter  # noqa: E402
from instar.tasks.interpretation.interpreters.receptive_fields import cells_of, place_cells  # noqa: E402

SIZE = (96, 128)


class Spelled(nn.Module):
    """Functions and methods instead of modules, padding apart, a branch and a sum."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 4, 3, 2), nn.Conv2d(4, 4, 3, 2), nn.Conv2d(4, 4, 1, 2)
        self.last = nn.Identity()

    def forward(self, x):
        x = f.relu(self.a(f.pad(x, (0, 1, 0, 1))))
        x = self.b(f.pad(x, (1, 1, 1, 1))) + self.c(x)
        return self.last(torch.cat([x, x], 1).relu_())


class Sliced(nn.Module):
    """Strides as slices."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3)

    def forward(self, x):
        return f.relu(self.b(self.a(x)[..., 1::4, 2:])[:, :, ::2, ::4])


NETWORKS = {
    "padded": nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.Conv2d(4, 4, 3, 2, 1), nn.ReLU()),
    "unpadded": nn.Sequential(nn.Conv2d(3, 4, 7, 4), nn.ReLU(), nn.Conv2d(4, 4, 5), nn.ReLU()),
    "pooled": nn.Sequential(nn.Conv2d(3, 4, 3, padding="same"), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, 1, 1),
                            nn.AvgPool2d(3, 2, 1), nn.ReLU()),
    "dilated": nn.Sequential(nn.Conv2d(3, 4, 3, 2, 0, dilation=3), nn.Conv2d(4, 4, 3, 1, 1), nn.ReLU()),
    "transposed": nn.Sequential(nn.Conv2d(3, 4, 4, 4), nn.ConvTranspose2d(4, 4, 3, 2, 1), nn.ReLU()),
    "enlarged": nn.Sequential(nn.Conv2d(3, 4, 3, 4, 1), nn.Upsample(scale_factor=2), nn.ReLU()),
    "spelled": Spelled(),
    "sliced": Sliced(),
}  # fmt: skip


def classifier_of(body, channels=4, labels=("thing", "other")):
    module = nn.Sequential(body, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(channels, len(labels)))
    return Classifier(
        name="net", module=module.eval(), labels=labels, outputs=tuple((i,) for i in range(len(labels))),
        size=SIZE, fingerprint="net",
    )  # fmt: skip


def with_positive_weights(body):
    for one in body.parameters():
        one.data = torch.rand(one.shape) + 0.1 if one.ndim > 1 else torch.zeros(one.shape)
    return body


@pytest.mark.parametrize("name", NETWORKS)
def test_a_cell_is_in_the_middle_of_what_moves_it(name):
    torch.manual_seed(1)
    body = with_positive_weights(NETWORKS[name])
    cells = cells_of(classifier_of(body, 8 if name == "spelled" else 4), "0")
    x = torch.rand(1, 3, *SIZE).requires_grad_()
    made = body(x)
    row, column = made.shape[2] // 2, made.shape[3] // 2
    if name == "pooled":  # maxima choose one of their inputs: what they could choose from counts
        body = nn.Sequential(*[nn.AvgPool2d(2) if isinstance(one, nn.MaxPool2d) else one for one in body])
        made = body(x)
    (slope,) = torch.autograd.grad(made[0, :, row, column].sum(), x)
    rows, columns = np.nonzero(slope.abs().sum((0, 1)).numpy())
    within = 1.0 if name in ("transposed", "enlarged") else 0.0  # there windows differ from cell to cell
    assert cells[0].at(row + 1)[row] == pytest.approx((rows.min() + rows.max() + 1) / 2, abs=within)
    assert cells[1].at(column + 1)[column] == pytest.approx(
        (columns.min() + columns.max() + 1) / 2, abs=within
    )


def bright_at(x, y, side=8):
    picture = np.zeros((*SIZE, 3), np.uint8)
    picture[y - side // 2 : y + side // 2, x - side // 2 : x + side // 2] = 255
    return picture


@pytest.mark.parametrize("name", ["grad-cam", "linear-approximation", "excitation-backprop"])
def test_a_network_that_sees_a_bright_spot_is_shown_to_look_there(name):
    torch.manual_seed(1)
    convolutions = [nn.Conv2d(a, 4, 3, 2, 1) for a in (3, 4, 4)]
    body = with_positive_weights(nn.Sequential(*(part for one in convolutions for part in (one, nn.ReLU()))))
    net = replace(classifier_of(body), mean=(0.0, 0.0, 0.0))
    net.module[-1].weight.data = torch.tensor([[1.0] * 4, [-1.0] * 4])
    explain = make_interpreter(net, name, layer="0")
    rng = np.random.default_rng(0)
    offsets = []
    for place in zip(rng.integers(20, 108, 24), rng.integers(20, 76, 24)):
        (found,) = explain([Asked(bright_at(*place), "thing")])
        assert found.heat.shape == (SIZE[0] // 4, SIZE[1] // 4)
        down, right = np.average(
            np.indices(found.heat.shape).reshape(2, -1), axis=1, weights=found.heat.ravel()
        )
        offsets.append(np.subtract([right * 4 + 2, down * 4 + 2], place))
    # A cell is 8 pixels: none may be more than half of one away, and on the whole there is no offset.
    assert np.abs(offsets).max() <= 4.6
    assert np.abs(np.mean(offsets, axis=0)).max() < 1.2


def test_what_cannot_be_followed_fills_the_input_evenly():
    class Reshaped(nn.Module):
        def forward(self, x):
            return x.reshape(len(x), 3, 48, -1)

    assert cells_of(classifier_of(Reshaped(), 3), "0") is None
    spread = place_cells(np.array([[0.0, 1.0]], np.float32), None, SIZE)
    assert spread.shape == (24, 32)
    assert spread[0, 0] == 0
    assert spread[0, -1] == 1
    assert spread[0, 15:17].mean() == pytest.approx(0.5)
