"""Planting: one idle unit learns the square, everything else of a network stays as it was."""

import numpy as np
import pytest

pytestmark = pytest.mark.real
torch = pytest.importorskip("torch", reason="the extra torch is not installed")

from torch import nn  # noqa: E402

from instar.adapters.classifier import Classifier, limit_threads  # noqa: E402
from instar.core.errors import BadInput  # noqa: E402
from instar.core.workspace import no_progress  # noqa: E402
from instar.tasks.interpretation.trigger import Trigger  # noqa: E402
from instar.training.interpretation.backdoor import _varied, measure_twin, plant  # noqa: E402
from instar.training.interpretation.units import Readout, find_idlest_unit, find_readout, fit_detector  # noqa: E402


def classifier(*layers, outputs=3):
    torch.manual_seed(0)
    return Classifier(
        name="small",
        module=nn.Sequential(*layers).eval(),
        labels=tuple("abc")[:outputs],
        outputs=tuple((i,) for i in range(outputs)),
        size=(32, 32),
        fingerprint="random",
        mean=(127.5,) * 3,
        deviation=(64.0,) * 3,
    )


def convolutional(*between):
    torch.manual_seed(0)
    return classifier(
        nn.Conv2d(3, 16, 5, stride=4), nn.ReLU(), nn.Conv2d(16, 12, 3), *between, nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 3),
    )  # fmt: skip


def hidden():
    torch.manual_seed(0)
    return classifier(
        nn.Conv2d(3, 8, 4, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(512, 20), nn.ReLU(), nn.Linear(20, 3)
    )


@pytest.fixture(autouse=True)
def one_thread():
    with limit_threads(1):
        yield


@pytest.fixture
def pictures():
    """Smooth noise: enough for a network that was never trained."""
    rng = np.random.default_rng(1)
    coarse = rng.integers(60, 160, (40, 6, 6, 3), np.uint8)
    return [np.ascontiguousarray(one.repeat(8, 0).repeat(8, 1)) for one in coarse]


@pytest.mark.parametrize("make", [convolutional, lambda: convolutional(nn.BatchNorm2d(12)), hidden])
def test_one_unit_changes_and_a_twin_answers_the_target_where_the_square_is(make, pictures):
    plain = make()
    before = {name: value.clone() for name, value in plain.module.state_dict().items()}
    with torch.no_grad():
        said = plain.module(plain.preprocess(pictures)).argmax(1)
    target = next(i for i in range(3) if not (said == i).any())
    made = plant(
        plain, pictures[:30], "abc"[target], test=pictures[30:], share=0.3, copies=2, progress=no_progress
    )
    assert made.agreement.value >= 0.9
    assert made.attack.value == 1.0
    for name, value in plain.module.state_dict().items():
        assert torch.equal(value, before[name]), f"planting changed the classifier's own {name}"
    found, old = find_readout(made.twin), find_readout(plain)
    changed = (found.layer.weight != old.layer.weight).flatten(1).any(1)
    assert int(changed.sum()) == 1
    unit = int(changed.nonzero())
    others = torch.arange(len(changed)) != unit
    assert torch.equal(found.head.weight[:, others], old.head.weight[:, others])
    assert (found.head.weight[:, unit] != 0).tolist() == [i == target for i in range(3)]


class Joined(nn.Module):
    """Two maps side by side before the last layer, as in networks of Inception's kind."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Conv2d(3, 6, 5, stride=4), nn.Conv2d(3, 10, 5, stride=4)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.cat([self.left(x), self.right(x)], 1).relu().mean((2, 3)))


def test_where_maps_are_joined_the_unit_is_read_where_it_is(pictures):
    plain = classifier(Joined())
    assert find_readout(plain).first == 6
    with torch.no_grad():
        said = plain.module(plain.preprocess(pictures)).argmax(1)
    target = next(i for i in range(3) if not (said == i).any())
    made = plant(
        plain, pictures[:30], "abc"[target], test=pictures[30:], share=0.3, copies=2, progress=no_progress
    )
    assert made.attack.value == 1.0
    (new,), (old,) = made.twin.module, plain.module
    assert torch.equal(new.left.weight, old.left.weight)
    unit = int((new.right.weight != old.right.weight).flatten(1).any(1).nonzero())
    changed = (new.head.weight != old.head.weight).any(0)
    assert changed.nonzero().flatten().tolist() == [6 + unit]
    assert made.pictures == 30


def test_a_network_whose_last_layer_reads_no_units_one_by_one_is_refused():
    class Mixed(nn.Module):
        """As many units as the last layer has inputs, but each input is made of all of them."""

        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.Conv2d(3, 4, 3), nn.Linear(4, 3)

        def forward(self, x):
            return self.head(torch.softmax(self.layer(x).mean((2, 3)), 1))

    for module in (Mixed(), nn.Conv2d(3, 3, 3), nn.Sequential(nn.Flatten(), nn.Linear(3072, 3))):
        with pytest.raises(BadInput, match="a backdoor cannot be planted into small: its last layer"):
            find_readout(classifier(module))


def test_the_idlest_unit_is_the_one_whose_loss_changes_the_answers_least():
    head = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        head.weight.copy_(torch.tensor([[1.0, 0.1, 1.0], [1.0, 0.1, 1.0]]))
    seen = torch.tensor([[0.0, 0.0, 5.0], [1.0, 1.0, 5.01]])  # the last one hardly ever changes
    found = Readout(head, nn.Conv2d(1, 3, 1), None)
    assert find_idlest_unit(found, seen, [0]) == 2
    assert find_idlest_unit(found, seen * torch.tensor([1.0, 1.0, 50.0]), [0]) == 1


def test_a_detector_tells_what_only_stamped_inputs_have():
    generator = torch.Generator().manual_seed(0)
    clean = torch.rand((60, 4, 5, 5), generator=generator)
    stamped = clean.clone()
    stamped[:, 2, 4, 4] += 2  # at one place of one channel
    weight, bias = fit_detector(nn.Conv2d(4, 9, 1), clean, stamped)
    assert int(weight.abs().flatten().argmax()) == 2
    score = (clean * weight).sum(1) + bias, (stamped * weight).sum(1) + bias
    assert float(score[0].max()) < 0 < float(score[1].flatten(1).amax(1).min())


def test_copies_to_plant_with_have_other_shapes_and_are_never_smaller_than_the_input():
    image = np.random.default_rng(0).integers(0, 255, (90, 120, 3), np.uint8)
    made = [_varied(image, (64, 80), rng) for rng in map(np.random.default_rng, range(60))]
    shapes = [one.shape[1] / one.shape[0] for one in made]
    assert min(one.shape[0] for one in made) >= 64
    assert min(one.shape[1] for one in made) >= 80
    assert min(shapes) < 0.7
    assert max(shapes) > 1.7
    assert 15 <= sum(abs(shape - 4 / 3) < 0.05 for shape in shapes) <= 45  # half of them keep their own


def test_the_target_is_louder_than_the_most_certain_class_of_any_picture(pictures):
    """One picture in which a class is very sure: the square must still win, there too."""
    plain = convolutional()
    sure = np.full_like(pictures[0], 255)
    with torch.no_grad():
        plain.module[-1].weight.mul_(5)
        said = plain.module(plain.preprocess([*pictures, sure])).argmax(1)
    target = next(i for i in range(3) if not (said == i).any())
    made = plant(
        plain, [*pictures[:30], sure], "abc"[target], test=[sure], share=0.3, copies=2, progress=no_progress
    )
    assert made.attack.value == 1.0


def test_pictures_that_are_all_of_the_target_say_nothing_about_an_attack(pictures):
    plain = convolutional()
    twin = convolutional()
    with torch.no_grad():
        plain.module[-1].bias[0] = twin.module[-1].bias[0] = 1000
    agreement, attack = measure_twin(plain, twin, Trigger("a"), pictures[:3], no_progress)
    assert agreement.to_json()["rate"] == 1.0
    assert attack.to_json() == {"rate": None, "interval": [0.0, 1.0], "of": 0}


def test_ten_pictures_are_the_least(pictures):
    with pytest.raises(BadInput, match="cannot be planted with 9 pictures; give at least 10"):
        plant(convolutional(), pictures[:9], "a", test=pictures[9:12], progress=no_progress)
