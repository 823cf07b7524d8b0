"""Interpreters against formulas written out by hand, against other libraries, and what they leave behind."""

import copy
import dataclasses
import sys
import types

import numpy as np
import pytest

from instar.core.errors import BadInput, UnknownName
from instar.tasks.interpretation import Asked

pytestmark = pytest.mark.real
torch = pytest.importorskip("torch", reason="the extra torch is not installed")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (64, 96, 3), dtype=np.uint8) for _ in range(3)]


def make(module, **how):
    from small_networks import classifier

    return classifier(module, **how)


def state(module):
    return (
        {name: value.clone() for name, value in module.state_dict().items()},
        [part.training for part in module.modules()],
        [len(part._forward_hooks) + len(part._backward_hooks) for part in module.modules()],
        [weight.grad for weight in module.parameters()],
        [weight.requires_grad for weight in module.parameters()],
    )


def assert_same_state(before, after):
    assert before[0].keys() == after[0].keys()
    for name in before[0]:
        assert torch.equal(before[0][name], after[0][name])
    assert before[1:] == after[1:]


# --- by hand: a network of one convolution, one rectifier and a linear layer, gradients written out
@pytest.mark.parametrize("rule", ["deconvnet", "guided-backprop"])
def test_changed_gradients_are_those_of_the_formula(rule, images):
    from torch.nn import functional as f

    from instar.tasks.interpretation.interpreters.gradients import rectified_gradient
    from small_networks import sequential

    net = make(sequential())
    x = net.preprocess(images)
    _, found = rectified_gradient(net, x, [0, 1, 2], rule)
    first, _, _, second, _, _, _, third, _, last = net.module

    def through(gradient, active):
        return gradient.clamp(min=0) * (active if rule == "guided-backprop" else 1)

    for i, label in enumerate([0, 1, 2]):
        with torch.no_grad():
            a = first(x[i : i + 1])
            p, p_at = f.max_pool2d(a.relu(), 2, return_indices=True)
            b = second(p)
            q, q_at = f.max_pool2d(b.relu(), 2, return_indices=True)
            h = third(q.flatten(1))
            g = last.weight[label][None]
            g = through(g, h > 0) @ third.weight
            g = f.max_unpool2d(g.view_as(q), q_at, 2)
            g = f.conv_transpose2d(through(g, b > 0), second.weight, padding=1)
            g = f.max_unpool2d(g, p_at, 2)
            g = f.conv_transpose2d(through(g, a > 0), first.weight, padding=1)
        torch.testing.assert_close(found[i], g[0].abs().amax(0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rule", ["grad-cam", "linear-approximation"])
def test_maps_at_a_layer_are_those_of_the_formula(rule, images):
    from instar.tasks.interpretation.interpreters.gradients import layer_attribution
    from small_networks import sequential

    net = make(sequential(norm=True))
    net.module.eval()
    x = net.preprocess(images)
    _, found = layer_attribution(net, x, [4, 0, 2], "6", rule)
    front, back = net.module[:7], net.module[7:]
    for i, label in enumerate([4, 0, 2]):
        a = front(x[i : i + 1]).detach().requires_grad_()
        back(a)[0, label].backward()
        weight = a.grad.mean((2, 3), keepdim=True) if rule == "grad-cam" else a.grad
        by_hand = (weight * a.detach()).sum(1)[0]
        if rule == "grad-cam":  # the other one keeps its sign
            by_hand = by_hand.clamp(min=0)
        torch.testing.assert_close(found[i], by_hand, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rule", ["deconvnet", "guided-backprop"])
def test_a_rectifier_is_one_however_it_is_spelled(rule, images):
    from instar.tasks.interpretation.interpreters.gradients import rectified_gradient
    from small_networks import Spelled

    spelled = Spelled()
    x = make(spelled).preprocess(images)
    _, found = rectified_gradient(make(spelled), x, [0, 1, 2], rule)
    _, plain = rectified_gradient(make(spelled.modules_only()), x, [0, 1, 2], rule)
    torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-7)


# --- against other libraries
def test_gradients_are_those_of_captum(images):
    from captum import attr

    from instar.tasks.interpretation.interpreters import gradients
    from small_networks import sequential

    net = make(sequential())
    x = net.preprocess(images)
    labels = [0, 1, 2]

    def largest(found):
        return found.detach().abs().amax(1)

    with pytest.warns(UserWarning, match="hooks"):
        deconvolved = attr.Deconvolution(net.module).attribute(x.clone().requires_grad_(), labels)
    torch.testing.assert_close(
        gradients.rectified_gradient(net, x, labels, "deconvnet")[1], largest(deconvolved)
    )
    with pytest.warns(UserWarning, match="hooks"):
        guided = attr.GuidedBackprop(net.module).attribute(x.clone().requires_grad_(), labels)
    torch.testing.assert_close(
        gradients.rectified_gradient(net, x, labels, "guided-backprop")[1], largest(guided)
    )
    cam = attr.LayerGradCam(net.module, net.module[4]).attribute(x, labels, relu_attributions=True)
    torch.testing.assert_close(
        gradients.layer_attribution(net, x, labels, "4", "grad-cam")[1], cam[:, 0].detach()
    )
    integrated = attr.IntegratedGradients(net.module).attribute(
        x, target=labels, n_steps=8, method="riemann_middle"
    )
    ours = gradients.integrated_gradients(net, x, labels, steps=8, rows=5)[1]
    torch.testing.assert_close(ours, integrated.sum(1).float(), rtol=1e-3, atol=1e-5)


def averaging():
    """Average poolings where `sequential` has those of the maximum."""
    from torch import nn

    torch.manual_seed(4)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, 5),
    )  # fmt: skip


@pytest.mark.parametrize("network", ["sequential", "averaging"])
def test_excitation_is_that_of_zennit(network, images, monkeypatch):
    zennit = zennit_without_torchvision(monkeypatch)
    from instar.tasks.interpretation.interpreters.excitation import SignedWeights, excitation
    from small_networks import sequential

    net = make(sequential(3) if network == "sequential" else averaging())
    x = net.preprocess(images).abs()
    labels = [3, 1, 0]
    composite = zennit.ExcitationBackprop(stabilizer=1e-12, zero_params="bias")
    for layer in ("2", "1", "4"):
        _, found = excitation(net, x, labels, layer, SignedWeights())
        front, back = net.module[: int(layer) + 1], net.module[int(layer) + 1 :]
        a = front(x).detach().requires_grad_()
        with composite.context(back) as changed:
            (mass,) = torch.autograd.grad(changed(a), a, torch.eye(5)[labels])
        torch.testing.assert_close(found, mass.sum(1), rtol=1e-4, atol=1e-7)


def zennit_without_torchvision(monkeypatch):
    """zennit imports torchvision for models that are not needed here; a stand-in lets it."""
    if "torchvision" not in sys.modules:
        names = ("torchvision", "torchvision.models", "torchvision.models.resnet")
        parts = {name: types.ModuleType(name) for name in names}
        parts["torchvision.models.resnet"].Bottleneck = type("Bottleneck", (torch.nn.Module,), {})
        parts["torchvision.models.resnet"].BasicBlock = type("BasicBlock", (torch.nn.Module,), {})
        for name, part in parts.items():
            monkeypatch.setitem(sys.modules, name, part)
    import zennit.composites

    return zennit.composites


def test_rise_is_that_of_xaitk_given_the_same_masks():
    from xaitk_saliency.impls.gen_classifier_conf_sal import rise_scoring as scoring

    from instar.tasks.interpretation.interpreters.masks import rise_map, rise_masks

    masks = np.concatenate(list(rise_masks(3, 40, (30, 44), grid=7)))
    assert masks.shape == (40, 30, 44)
    confidences = np.random.default_rng(1).random((40, 1))
    centred = confidences - confidences.mean()  # which theirs are not: ours wander less from seed to seed
    theirs = scoring.RISEScoring(p1=0.5).generate(np.zeros(1), centred, masks.astype(np.float64))[0]
    ours = rise_map(torch.from_numpy(confidences[:, 0]), torch.from_numpy(masks).double()).numpy()
    np.testing.assert_allclose(ours / np.abs(ours).max(), theirs, atol=1e-6)


# --- excitation keeps its mass, whatever the network is made of
def test_the_mass_is_kept_at_every_layer(images):
    from instar.tasks.interpretation.interpreters.excitation import SignedWeights, excitation
    from small_networks import Branching, sequential

    for module in (sequential(), sequential(norm=True), Branching()):
        net = make(module)
        maps = [
            name
            for name, part in module.named_modules()
            if type(part).__name__ in ("Conv2d", "MaxPool2d", "AvgPool2d", "BatchNorm2d")
        ]
        for layer in maps:
            _, mass = excitation(net, net.preprocess(images), [0, 1, 2], layer, SignedWeights())
            if isinstance(module, Branching) and layer in ("first", "norm", "second", "third"):
                assert bool((mass.sum((1, 2)) < 1.0001).all())  # the shortcut has the rest
            else:
                torch.testing.assert_close(mass.sum((1, 2)), torch.ones(3), rtol=1e-3, atol=1e-3)
            assert float(mass.min()) >= -1e-6


def test_vgg16_keeps_the_mass_at_each_of_its_layers():
    from instar.tasks.interpretation.interpreters.excitation import SignedWeights, excitation
    from small_networks import vgg16

    net = make(vgg16(), size=(64, 64))
    weights = SignedWeights()
    for layer in range(31):  # features.0 to features.30 in other books
        _, mass = excitation(net, torch.randn(1, 3, 64, 64), [2], str(layer), weights)
        torch.testing.assert_close(mass.sum(), torch.tensor(1.0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["resnet50", "mobilenet-v2"])
def test_residual_networks_of_the_zoo_keep_the_mass_at_each_of_their_blocks(name):
    """With their own weights, on a photograph: MobileNetV2 has units that only a bias excites."""
    import cv2

    from instar.adapters.zoo_classifiers import zoo_classifier
    from instar.tasks.interpretation.interpreters.excitation import SignedWeights, excitation
    from instar.zoo import fetch

    net = zoo_classifier(name)
    x = net.preprocess([np.ascontiguousarray(cv2.imread(str(fetch("cat")[0]))[..., ::-1])])
    weights = SignedWeights()
    blocks = len(net.module) - 3  # behind them: pooling, flattening, the last layer
    for layer in range(blocks):
        _, mass = excitation(net, x, [net.index("cat")], str(layer), weights)
        torch.testing.assert_close(mass.sum(), torch.tensor(1.0), rtol=1e-3, atol=1e-3)
        assert float(mass.min()) >= -1e-6


def test_a_unit_that_only_a_bias_excites_hands_its_mass_to_all_of_its_inputs():
    from instar.tasks.interpretation.interpreters.excitation import SignedWeights, excitation

    with torch.no_grad():
        module = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 1), torch.nn.ReLU(), torch.nn.Conv2d(4, 1, 1), torch.nn.ReLU(),
            torch.nn.AdaptiveMaxPool2d(1), torch.nn.Flatten(), torch.nn.Linear(1, 5),
        )  # fmt: skip
        for part in (module[0], module[2]):
            part.weight.fill_(-1)  # nothing excites
            part.bias.fill_(1)
        module[6].weight.fill_(1)
        x = torch.zeros(1, 3, 4, 4)
        x[0, :, 1, 2] = -1  # where the first layer says most, and so the second one least
    net = make(module, size=(4, 4))
    _, mass = excitation(net, x, [0], "0", SignedWeights())
    torch.testing.assert_close(mass.sum(), torch.tensor(1.0))


def test_what_excitation_has_no_rule_for_is_refused_by_name(images):
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import Gated

    explain = make_interpreter(make(Gated()), "excitation-backprop", layer="convolution")
    with pytest.raises(BadInput, match=r"no rule for '(sigmoid|mul)', which small does"):
        explain([Asked(images[0], "a")])


# --- masks and samples
def test_lime_finds_the_segments_that_a_linear_model_uses():
    from instar.tasks.interpretation.interpreters.masks import draw_segments, fit_ridge

    used = np.concatenate(list(draw_segments(0, 400, 12)))
    weights = np.linspace(-1, 1, 12)
    found = fit_ridge(used, used @ weights + 0.3)
    np.testing.assert_allclose(found, weights, atol=0.03)
    assert used[0].all()


def test_the_fit_of_lime_is_a_weighted_ridge_regression():
    """The same minimum by gradient, from the definition: sum w (y - zb - c)^2 + |b|^2, w of mean one."""
    from instar.tasks.interpretation.interpreters.masks import draw_segments, fit_ridge

    used = np.concatenate(list(draw_segments(5, 60, 6))).astype(np.float64)
    y = np.random.default_rng(0).random(60)
    near = np.sqrt(np.exp(-((1 - np.sqrt(used.mean(1))) ** 2) / 0.25**2))
    near = near / near.sum() * len(used)
    z = np.column_stack([used, np.ones(60)]).astype(np.float64)
    ridge = np.diag([1.0] * 6 + [0.0])
    by_hand = np.linalg.solve((z * near[:, None]).T @ z + ridge, (z * near[:, None]).T @ y)
    np.testing.assert_allclose(fit_ridge(used, y), by_hand[:6], atol=1e-9)


def test_segments_cover_the_picture_and_follow_its_edges():
    from instar.tasks.interpretation.interpreters.masks import segment_picture

    image = np.zeros((120, 160, 3), np.uint8)
    image[:, 70:] = (250, 200, 30)
    found = segment_picture(image, (120, 160), 50)
    assert found.shape == (120, 160)
    assert 20 <= len(np.unique(found)) <= 60
    left, right = set(np.unique(found[:, :64])), set(np.unique(found[:, 76:]))
    assert not left & right


def test_masks_come_from_the_seed_and_are_open_by_half():
    from instar.tasks.interpretation.interpreters.masks import rise_masks

    def of(seed):
        return np.concatenate(list(rise_masks(seed, 60, (28, 28), grid=7)))

    np.testing.assert_array_equal(of(1), of(1))
    assert not np.array_equal(of(1), of(2))
    assert of(1).mean() == pytest.approx(0.5, abs=0.001)


@pytest.mark.parametrize("count", [4, 49, 64])
def test_each_part_is_seen_by_half_and_with_any_other_in_a_quarter(count):
    from instar.tasks.interpretation.interpreters.masks import draw_balanced

    seen = draw_balanced(np.random.default_rng(0), count)
    together = seen.T.astype(int) @ seen.astype(int) / len(seen)
    np.testing.assert_array_equal(together, np.where(np.eye(count, dtype=bool), 1 / 2, 1 / 4))
    np.testing.assert_array_equal(seen[::2], ~seen[1::2])


def test_neither_other_parts_nor_pairs_of_them_disturb_what_one_part_does():
    from instar.tasks.interpretation.interpreters.masks import draw_balanced

    rng = np.random.default_rng(1)
    seen = draw_balanced(rng, 49).astype(float)
    alone, pairs = rng.normal(size=49), rng.normal(size=(49, 49))
    found = (seen @ alone + ((seen - 0.5) @ pairs * (seen - 0.5)).sum(1)) @ (seen - 0.5) / len(seen)
    np.testing.assert_allclose(found, alone / 4, atol=1e-12)


def test_masks_are_a_grid_enlarged_and_cut_out_at_an_offset():
    import cv2

    from instar.tasks.interpretation.interpreters.masks import _enlarging

    cells = np.random.default_rng(0).random((7, 7), np.float32)
    large = cv2.resize(cells, (8 * 7, 8 * 5), interpolation=cv2.INTER_LINEAR)
    down, across = _enlarging(30, 7, 0.5), _enlarging(44, 7, 0.3)
    np.testing.assert_allclose(down @ cells @ across.T, large[2 : 2 + 30, 2 : 2 + 44], atol=1e-6)


def test_maps_are_stable_where_they_agree_and_not_where_they_are_noise():
    from instar.tasks.interpretation.interpreters.masks import are_stable

    noise = torch.from_numpy(np.random.default_rng(0).normal(size=(8, 40, 40)))
    alike = torch.linspace(0, 4, 40)[None] + noise
    assert not are_stable(alike[:1])
    assert not are_stable(noise)
    assert not are_stable(torch.zeros(8, 40, 40))
    # Of k maps with a correlation of 0.58 to each other the mean has 0.58 k / (1 + 0.58 (k - 1)) to another.
    assert [are_stable(alike[:k]) for k in (2, 4, 6, 7, 8)] == [False, False, False, True, True]


class Looking(torch.nn.Module):
    """Sure of the first class by how light one place is, or by nothing that lasts; counts its pictures."""

    def __init__(self, *, steady):
        super().__init__()
        self.steady, self.seen, self.generator = steady, 0, torch.Generator().manual_seed(0)

    def forward(self, x):
        self.seen += len(x)
        light = (
            x[:, :, 4:16, 8:24].mean((1, 2, 3))
            if self.steady
            else torch.randn(len(x), generator=self.generator)
        )
        return torch.stack([light, -light, 0 * light, 0 * light, 0 * light], 1)

    def __deepcopy__(self, memo):
        return self


@pytest.mark.parametrize(("name", "most"), [("rise", 1000), ("lime", 500)])
def test_no_more_is_hidden_than_a_steady_map_needs(name, most):
    from instar.tasks.interpretation.interpreters import make_interpreter

    image = np.full((64, 96, 3), 255, np.uint8)
    steady, wandering = Looking(steady=True), Looking(steady=False)
    for module in (steady, wandering):
        explain = make_interpreter(make(module), name)
        module.seen = 0
        (answer,) = explain([Asked(image, "a")])
        if module is steady:
            y, x = np.unravel_index(int(answer.heat.argmax()), answer.heat.shape)
            assert 4 <= y < 16
            assert 8 <= x < 24
    assert steady.seen < most / 1.9  # the first of two looks, and the whole picture
    assert wandering.seen == most + 1


# --- all of them
FEW = {"rise": 60, "lime": 40, "integrated-gradients": 4, "smoothgrad": 3}
SIGNED = ("linear-approximation", "rise", "lime", "integrated-gradients")
NAMES = ("deconvnet", "guided-backprop", "linear-approximation", "excitation-backprop", "grad-cam", "rise",
         "lime", "integrated-gradients", "smoothgrad")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("network", ["sequential", "Branching"])
def test_everything_that_an_interpreter_makes_is_on_the_device_of_its_network(
    name, network, images, monkeypatch
):
    """Torch's device without memory stands in for a GPU: mixing in anything of the CPU is refused there too.

    It has no values to look at, so that the few places where one is looked at are given some.
    """
    import small_networks
    from instar.tasks.interpretation.interpreters import make_interpreter

    monkeypatch.setattr(torch.Tensor, "__bool__", lambda self: True)
    monkeypatch.setattr(torch.Tensor, "__float__", lambda self: 0.5)
    monkeypatch.setattr(torch.Tensor, "cpu", lambda self: torch.zeros(self.shape))
    net = make(getattr(small_networks, network)().to("meta"))
    net = dataclasses.replace(net, device="meta")
    explain = make_interpreter(net, name, samples=FEW.get(name))
    found = explain([Asked(image, "a", seed=i) for i, image in enumerate(images)])
    assert [one.confidence for one in found] == [0.5] * 3
    with pytest.raises(RuntimeError, match="device"):  # what the test rests on
        net.preprocess(images) + torch.zeros(3)[:, None, None, None]


@pytest.mark.parametrize("name", NAMES)
def test_an_interpreter_leaves_the_model_as_it_was(name, images):
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import Branching

    module = Branching()
    module.train()
    module.norm.eval()
    before = state(module)
    explain = make_interpreter(make(module), name, samples=FEW.get(name))
    answers = explain([Asked(image, label) for image, label in zip(images, "abc")])
    assert_same_state(before, state(module))
    for answer in answers:
        assert 0 <= answer.confidence <= 1
        assert float(answer.heat.min()) >= (-1 if name in SIGNED else 0)
        assert float(answer.heat.max()) <= 1
    with pytest.raises(UnknownName, match="unknown class of small 'zebra'"):
        explain([Asked(images[0], "zebra")])
    assert_same_state(before, state(module))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_behind_by_an_error_in_the_middle(name, images):
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import Branching

    module = Branching()
    explain = make_interpreter(make(module), name, samples=FEW.get(name))
    before = state(module)

    class Broken(torch.nn.Linear):
        def forward(self, x):
            raise RuntimeError("a broken head")

    whole, module.linear = module.linear, Broken(16, 5)
    with pytest.raises(RuntimeError, match="a broken head"):
        explain([Asked(images[0], "a")])
    module.linear = whole
    assert_same_state(before, state(module))
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("name", NAMES)
def test_pictures_together_are_explained_as_each_alone(name, images):
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import sequential

    explain = make_interpreter(make(sequential(norm=True)), name, samples=FEW.get(name), rows=7)
    asked = [Asked(image, label, seed) for image, label, seed in zip(images, "aec", (0, 4, 0))]
    together = explain(asked)
    for one, answer in zip(asked, together):
        (alone,) = explain([one])
        np.testing.assert_allclose(answer.heat, alone.heat, atol=2e-4)
        assert answer.confidence == pytest.approx(alone.confidence, abs=1e-5)


def test_integrated_gradients_add_up_to_what_the_score_gains(images):
    from instar.tasks.interpretation.interpreters.gradients import integrated_gradients
    from small_networks import sequential

    net = make(sequential())
    x = net.preprocess(images)
    _, maps = integrated_gradients(net, x, [0, 1, 2], steps=200, rows=50)
    with torch.no_grad():
        gained = (net.module(x) - net.module(torch.zeros_like(x)))[range(3), [0, 1, 2]]
    torch.testing.assert_close(maps.sum((1, 2)), gained, rtol=0.02, atol=0.01)


# --- layers
def test_the_last_map_and_one_of_an_eighth_are_found():
    from instar.adapters.networks import resnet50_network, street_network
    from instar.tasks.interpretation.interpreters.layers import find_last_layer, find_layer_of_side
    from small_networks import Branching, sequential

    assert find_last_layer(make(sequential(norm=True)), needed_for="x") == "6"
    assert find_last_layer(make(street_network(8), size=(120, 160), labels=8), needed_for="x") == "4"
    assert find_last_layer(make(Branching()), needed_for="x") == "third"
    resnet = make(resnet50_network(), size=(224, 224))
    assert find_last_layer(resnet, needed_for="x") == "17"
    assert find_layer_of_side(resnet, 1 / 8, needed_for="x") == "8"


def test_a_model_without_convolutions_has_no_map_for_grad_cam():
    from instar.tasks.interpretation.interpreters import make_interpreter

    flat = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 48, 5))
    with pytest.raises(BadInput, match="grad-cam: small has no convolution whose map could be shown"):
        make_interpreter(make(flat), "grad-cam")
    with pytest.raises(BadInput, match="small has no rectifier"):
        make_interpreter(make(flat), "guided-backprop")([Asked(np.zeros((64, 96, 3), np.uint8), "a")])


def test_layers_and_interpreters_that_are_not_there_are_refused_with_the_nearest():
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import Branching

    net = make(Branching())
    with pytest.raises(UnknownName, match=r"'gradcam'; did you mean 'grad-cam'\?"):
        make_interpreter(net, "gradcam")
    with pytest.raises(UnknownName, match="unknown layer of small 'frist'; did you mean 'first'"):
        make_interpreter(net, "grad-cam", layer="frist")
    with pytest.raises(BadInput, match="rise looks at no layer"):
        make_interpreter(net, "rise", layer="first")


def test_a_compiled_network_is_refused_where_its_operations_must_be_seen(images):
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import sequential

    with pytest.warns(DeprecationWarning, match="deprecated"):
        traced = torch.jit.trace(sequential(), torch.zeros(1, 3, 32, 48))
    with pytest.raises(BadInput, match="the network is compiled"):
        make_interpreter(make(traced), "guided-backprop")([Asked(images[0], "a")])


def test_a_picture_smaller_than_the_input_is_enlarged_and_one_below_half_of_it_refused():
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import sequential

    explain = make_interpreter(make(sequential()), "grad-cam")
    (found,) = explain([Asked(np.zeros((20, 40, 3), np.uint8), "a")])
    assert 0 <= found.confidence <= 1
    with pytest.raises(BadInput, match="a picture of 20x40 is smaller than half the input of small, 48x32"):
        explain([Asked(np.zeros((40, 20, 3), np.uint8), "a")])


def test_a_copy_of_a_network_explains_alike(images):
    from instar.tasks.interpretation.interpreters import make_interpreter
    from small_networks import Branching

    module = Branching()
    first = make_interpreter(make(module), "excitation-backprop")([Asked(images[0], "a")])
    second = make_interpreter(make(copy.deepcopy(module)), "excitation-backprop")([Asked(images[0], "a")])
    np.testing.assert_array_equal(first[0].heat, second[0].heat)
