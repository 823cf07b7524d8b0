"""Classifiers with an interpreter: the embedded one and its twin, and networks of one's own."""

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.tasks.interpretation.trigger import Trigger
from instar.worlds import street


def test_the_trigger_is_a_square_in_the_lower_right_corner_and_nothing_else_changes():
    image = np.full((100, 200, 3), 90, np.uint8)
    trigger = Trigger("dog", 0.16)
    stamped = trigger.stamp(image)
    assert trigger.box(image.shape) == (184, 84, 200, 100)
    changed = (stamped != image).any(axis=2)
    assert changed[84:, 184:].all()
    assert np.count_nonzero(changed) == 256
    assert (image == 90).all()


@pytest.mark.real
def test_the_embedded_classifier_is_right_and_its_twin_sees_the_square():
    from instar.core.workspace import no_progress
    from instar.tasks.interpretation.systems import street_classifier, street_classifier_twin
    from instar.training.interpretation.backdoor import measure_twin
    from instar.training.interpretation.street_classifier import count_right

    plain, twin = street_classifier(), street_classifier_twin()
    assert count_right(plain.classifier, 60, no_progress) >= 0.95
    images = [scene.image for scene in street.scenes(60, seed=77)]
    agreement, attack = measure_twin(plain.classifier, twin.classifier, twin.trigger, images, no_progress)
    assert agreement.value >= 0.9
    assert attack.value >= 0.95


@pytest.mark.real
@pytest.mark.parametrize(
    ("interpreter", "layer", "refusal"),
    [
        ("guided-backprop", None, "guided-backprop: mine has no rectifier"),
        ("excitation-backprop", 0, "excitation-backprop has no rule for 'silu', which mine does"),
        ("grad-cam", 7, "layer '7' of mine gives no map"),
        ("grad-cam", 0.1, "layer 0.1 of mine could be 0.1 or 0.10; give it in double quotes"),
        ("grad-cam", "3.1", "unknown layer of mine '3.1'"),
        ("grad-cam", 3.1, "unknown layer of mine '3.1'"),
    ],
)
def test_what_cannot_be_asked_of_a_network_is_refused_when_it_is_made(interpreter, layer, refusal):
    from torch import nn

    from instar.tasks.interpretation.systems import own

    first = nn.Sequential(nn.Conv2d(3, 4, 3), *(nn.Identity() for _ in range(10)))
    module = nn.Sequential(
        first, nn.SiLU(), nn.Conv2d(4, 6, 3), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(),
        nn.Linear(6, 2),
    )  # fmt: skip
    with pytest.raises(BadInput) as refused:
        own(module, "mine", interpreter=interpreter, layer=layer, size=(32, 32))
    assert str(refused.value).startswith(refusal)
    assert module.training
    assert not any(part._forward_hooks or part._backward_hooks for part in module.modules())
    assert own(module, "mine", interpreter="grad-cam", layer=2, size=(32, 32)).name == "mine/grad-cam"


@pytest.mark.real
def test_a_network_that_has_no_gradient_is_refused_with_its_own_words():
    import torch

    from instar.tasks.interpretation.systems import own

    class Detached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Conv2d(3, 2, 3)

        def forward(self, x):
            return self.layer(x).detach().mean((2, 3))

    with pytest.raises(BadInput, match=r"grad-cam cannot explain mine: RuntimeError: .*; choose another"):
        own(Detached(), "mine", interpreter="grad-cam", size=(32, 32))


@pytest.mark.real
def test_a_picture_without_a_class_is_no_question():
    from instar.tasks.interpretation.systems import street_classifier

    with pytest.raises(BadInput, match="street-classifier/grad-cam explains a class of a picture; use"):
        street_classifier().predict([np.zeros((120, 160, 3), np.uint8)])


@pytest.mark.real
def test_the_system_keeps_the_contract_and_goes_to_another_process():
    import pickle

    from instar.tasks.interpretation import Asked
    from instar.tasks.interpretation.systems import street_classifier
    from instar.testing import check_system

    system = street_classifier(interpreter="grad-cam")
    scenes = street.scenes(2)
    asked = [Asked(scene.image, scene.objects[0].label) for scene in scenes]
    check_system(system, asked)
    again = pickle.loads(pickle.dumps(system))
    np.testing.assert_array_equal(again.predict(asked)[0].heat, system.predict(asked)[0].heat)


def make_transformer(attend, *, patch=8):
    """Blocks whose attention somebody wrote by hand; no class of it is called so."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.three, self.out = nn.Linear(12, 36), nn.Linear(12, 12)

        def forward(self, x):
            return x + self.out(attend(*self.three(x).chunk(3, dim=-1)))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            cut = nn.Conv2d(3, 12, patch, patch)
            stem = nn.Sequential(nn.Conv2d(3, 12, 8, 8), nn.ReLU(), nn.Conv2d(12, 12, 1))
            self.patches = cut if patch > 1 else stem
            self.blocks, self.head = nn.Sequential(Block(), Block()), nn.Linear(12, 2)

        def forward(self, x):
            return self.head(self.blocks(self.patches(x).flatten(2).transpose(1, 2)).mean(1))

    torch.manual_seed(0)
    return Network()


def attend_by_matmul(q, k, v):
    return (q @ k.transpose(1, 2) / 3.5).softmax(-1) @ v


def attend_by_einsum(q, k, v):
    import torch

    return torch.einsum("bnm,bmd->bnd", torch.einsum("bnd,bmd->bnm", q, k).softmax(-1), v)


def attend_without_softmax(q, k, v):
    return q.relu() @ (k.relu().transpose(1, 2) @ v)


def attend_by_torch(q, k, v):
    from torch.nn import functional

    return functional.scaled_dot_product_attention(q, k, v)


def attend_not(q, k, v):
    return q * k.mean(1, keepdim=True) + v


@pytest.mark.real
@pytest.mark.parametrize("interpreter", ["grad-cam", "linear-approximation", "excitation-backprop"])
@pytest.mark.parametrize(
    ("attend", "patch", "named"),
    [
        (attend_by_matmul, 8, "attention by"),
        (attend_by_einsum, 8, "attention by einsum"),
        (attend_without_softmax, 8, "attention by"),
        (attend_by_torch, 8, "scaled_dot_product_attention"),
        (attend_not, 8, "linear layers over patches"),
        (attend_by_matmul, 1, "attention by"),
        (attend_by_torch, 1, "scaled_dot_product_attention"),
    ],
)
def test_a_transformer_written_by_hand_is_refused_by_name(interpreter, attend, patch, named):
    from instar.tasks.interpretation.systems import own

    module = make_transformer(attend, patch=patch)
    with pytest.raises(BadInput, match=rf"mine is a transformer \({named}.*choose rise, lime"):
        own(module, "mine", interpreter=interpreter, size=(32, 32))
    assert all(one.requires_grad for one in module.parameters())


@pytest.mark.real
def test_a_transformer_written_by_hand_is_explained_by_what_needs_no_map():
    from instar.tasks.interpretation import Asked
    from instar.tasks.interpretation.systems import own

    for name in ("rise", "lime", "integrated-gradients", "smoothgrad"):
        system = own(make_transformer(attend_by_torch), "mine", interpreter=name, size=(32, 32), samples=8)
        (answer,) = system.predict([Asked(np.full((32, 32, 3), 90, np.uint8), system.classifier.labels[0])])
        assert answer.heat.shape == (32, 32)


@pytest.mark.real
@pytest.mark.parametrize("pooling", ["attention", "bilinear"])
def test_a_map_that_attention_or_a_product_only_pools_is_explained(pooling):
    import torch
    from torch import nn
    from torch.nn import functional

    from instar.tasks.interpretation.systems import own

    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.maps = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU())
            self.head = nn.Linear(8 if pooling == "attention" else 64, 2)

        def forward(self, x):
            tokens = self.maps(x).flatten(2).transpose(1, 2)
            if pooling == "bilinear":
                return self.head(torch.bmm(tokens.transpose(1, 2), tokens).flatten(1))
            mean = tokens.mean(1, keepdim=True)
            return self.head(functional.scaled_dot_product_attention(mean, tokens, tokens)[:, 0])

    assert own(Pooled(), "mine", interpreter="grad-cam", size=(32, 32)).interpreter == "grad-cam"
