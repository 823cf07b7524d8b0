"""Nine interpreters by name, each a function from pictures and labels to heat maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from instar.adapters.classifier import Classifier
from instar.core.errors import BadInput, UnknownName
from instar.tasks.interpretation.answers import Asked, Explanation
from instar.tasks.interpretation.interpreter_names import INTERPRETERS
from instar.tasks.interpretation.interpreters import excitation, gradients, layers, masks

__all__ = ["GRID", "INTERPRETERS", "OPEN", "RANDOM", "ROWS", "SAMPLES", "Interpreter", "make_interpreter"]

RANDOM = ("rise", "lime", "smoothgrad")
"""Those that draw lots: their masks and their noise come from the seed in the question."""

Interpreter = Callable[[Sequence[Asked]], list[Explanation]]

AT_LAYER = ("linear-approximation", "excitation-backprop", "grad-cam")
EXCITED_SIDE = (
    1 / 8
)  # of the input: where excitation is looked at, as the paper does at a quarter to an eighth
SAMPLES = {"rise": 1000, "lime": 500, "integrated-gradients": 32, "smoothgrad": 16}
GRID, OPEN = 7, 0.5
PIECES = 50
ROWS = 4  # at once on a CPU: with more of them their maps fall out of its cache, and each takes twice as long
NOISE = 0.15


def make_interpreter(
    classifier: Classifier,
    name: str,
    *,
    layer: str | None = None,
    samples: int | None = None,
    rows: int = ROWS,
) -> Interpreter:
    """The interpreter of that name for a classifier.

    `layer` is where Grad-CAM, linear approximation and excitation backpropagation look; by default the last
    map of the network, and for excitation the deepest one with sides of at least an eighth of the input's.
    `samples` are the masks of RISE (1,000), samples of LIME (500) and SmoothGrad (16), or steps of integrated
    gradients (32). `rows` is how many masked or noisy pictures go through the network at once.
    """
    if name not in INTERPRETERS:
        raise UnknownName("interpreter", name, INTERPRETERS)
    if layer is not None and name not in AT_LAYER:
        raise BadInput(f"{name} looks at no layer, but layer {layer!r} was given; leave it out")
    if samples is not None and name not in SAMPLES:
        raise BadInput(f"{name} takes no samples, but samples={samples} was given; leave it out")
    if samples is not None and samples < 1:
        raise BadInput(f"{name}: samples is {samples}; it must be at least 1")
    count = samples or SAMPLES.get(name, 1)
    if layer is not None:
        layer = layers.find_layer(classifier, layer)
    elif name == "excitation-backprop":
        layer = layers.find_layer_of_side(classifier, EXCITED_SIDE, needed_for=name)
    elif name in AT_LAYER:
        layer = layers.find_last_layer(classifier, needed_for=name)
    return partial(_explain, classifier, _method(classifier, name, layer or "", count, rows), name in RANDOM)


Method = Callable[[Any, Sequence[Asked], list[int], list[int]], tuple[Any, Any]]


def _method(classifier: Classifier, name: str, layer: str, count: int, rows: int) -> Method:
    """(inputs, questions, labels, seeds) -> logits and raw maps."""
    match name:
        case "deconvnet" | "guided-backprop":
            rule: Any = "deconvnet" if name == "deconvnet" else "guided"
            return lambda x, asked, labels, seeds: gradients.rectified_gradient(classifier, x, labels, rule)
        case "grad-cam" | "linear-approximation":
            kind: Any = name
            return lambda x, asked, labels, seeds: gradients.layer_attribution(
                classifier, x, labels, layer, kind
            )
        case "excitation-backprop":
            weights = excitation.SignedWeights()
            return lambda x, asked, labels, seeds: excitation.excitation(
                classifier, x, labels, layer, weights
            )
        case "rise":
            return lambda x, asked, labels, seeds: masks.rise(
                classifier, x, labels, seeds, masks=count, grid=GRID, share=OPEN, rows=rows
            )
        case "lime":
            return lambda x, asked, labels, seeds: masks.lime(
                classifier,
                x,
                [one.image for one in asked],
                labels,
                seeds,
                samples=count,
                pieces=PIECES,
                rows=rows,
            )
        case "integrated-gradients":
            return lambda x, asked, labels, seeds: gradients.integrated_gradients(
                classifier, x, labels, steps=count, rows=rows
            )
        case _:
            return lambda x, asked, labels, seeds: gradients.smooth_grad(
                classifier, x, labels, seeds, samples=count, spread=NOISE, rows=rows
            )


def _explain(
    classifier: Classifier, method: Method, random: bool, asked: Sequence[Asked]
) -> list[Explanation]:
    labels = [classifier.index(one.label) for one in asked]
    inputs = classifier.preprocess([one.image for one in asked])
    logits, maps = method(inputs, asked, labels, [one.seed for one in asked])
    logits, maps = logits.cpu(), maps.detach().cpu()  # at once: each copy would wait for a GPU
    sure = [float(classifier.confidence(logits[i : i + 1], label)[0]) for i, label in enumerate(labels)]
    return [Explanation(one, gradients.normalise_heat(heat), random) for one, heat in zip(sure, maps)]
