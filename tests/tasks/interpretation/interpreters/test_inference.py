"""The copy of a network that masked pictures go through: quicker, and the same."""

import dataclasses

import pytest

pytestmark = pytest.mark.real
torch = pytest.importorskip("torch", reason="the extra torch is not installed")


def pictures(net):
    return torch.randn((3, 3, *net.size), generator=torch.Generator().manual_seed(0))


def copied(net):
    from instar.tasks.interpretation.interpreters.inference import for_inference

    found = for_inference(net)
    with torch.no_grad():
        net.module.eval()
        torch.testing.assert_close(found(pictures(net)), net.module(pictures(net)), rtol=1e-3, atol=1e-4)
    return found


def normalised():
    """Normalisations behind convolutions, and in front of one; a shortcut; a convolution with groups."""
    from torch import nn

    from instar.adapters.networks import Residual
    from small_networks import wandering

    torch.manual_seed(0)
    branch = nn.Sequential(
        nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), wandering(nn.BatchNorm2d(8)), nn.ReLU(),
        nn.Conv2d(8, 8, 1), wandering(nn.BatchNorm2d(8)),
    )  # fmt: skip
    return nn.Sequential(
        wandering(nn.BatchNorm2d(3)), nn.Conv2d(3, 8, 3, stride=2), wandering(nn.BatchNorm2d(8)), nn.ReLU(),
        Residual(branch, rectify=True), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 5),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["sequential", "Branching", "Spelled", "normalised"])
def test_the_copy_says_what_the_network_says_and_leaves_it_alone(name):
    import small_networks
    from instar.tasks.interpretation.interpreters.inference import for_inference

    module = normalised() if name == "normalised" else getattr(small_networks, name)()
    module.train()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    kinds = [type(part) for part in module.modules()]
    net = small_networks.classifier(module)
    assert for_inference(net) is not module
    assert all(part.training for part in module.modules())
    assert [type(part) for part in module.modules()] == kinds
    assert all(torch.equal(value, before[key]) for key, value in module.state_dict().items())
    copied(net)


def test_no_normalisation_is_left_behind_a_convolution():
    from small_networks import classifier

    kinds = [type(part).__name__ for part in copied(classifier(normalised())).modules()]
    assert kinds.count("BatchNorm2d") == 1  # in front of the first convolution
    assert "Conv2d" not in kinds


def test_a_layer_that_somebody_looks_into_stays_what_it_is():
    from small_networks import classifier

    module, seen = normalised(), []
    module[2].register_forward_hook(lambda part, given, found: seen.append(found.mean()))
    found = copied(classifier(module))
    assert type(found[2]) is torch.nn.BatchNorm2d
    assert len(seen) > 1


class Flat(torch.nn.Module):
    """Cannot take maps with channels last."""

    def __init__(self):
        super().__init__()
        self.convolution, self.linear = torch.nn.Conv2d(3, 4, 3), torch.nn.Linear(4 * 30 * 46, 5)

    def forward(self, x):
        return self.linear(self.convolution(x).view(len(x), -1))


class Wandering(Flat):
    """Another one each time it is asked."""

    def forward(self, x):
        return torch.randn(len(x), 5)


class Alone(Flat):
    """One that cannot be copied."""

    def __deepcopy__(self, memo):
        raise TypeError("there is one")


@pytest.mark.parametrize("kind", [Flat, Wandering, Alone])
def test_a_network_that_cannot_be_copied_so_is_asked_itself(kind):
    from instar.tasks.interpretation.interpreters.inference import for_inference
    from small_networks import classifier

    module = kind()
    assert for_inference(classifier(module)) is module


def test_a_gpu_asks_the_network_itself():
    from instar.tasks.interpretation.interpreters.inference import for_inference
    from small_networks import classifier, sequential

    module = sequential().to("meta")
    assert for_inference(dataclasses.replace(classifier(module), device="meta")) is module
