"""Nine interpreters by name, each a function from pictures and labels to heat maps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from instar.adapters.classifier import Classifier
from instar.core.errors import BadInput, UnknownName
from instar.core.scene import Image
from instar.tasks.interpretation.answers import Asked, Explanation
from instar.tasks.interpretation.catalogue import INTERPRETERS
from instar.tasks.interpretation.interpreters import excitation, gradients, layers, masks
from instar.tasks.interpretation.interpreters.inference import for_inference
from instar.tasks.interpretation.interpreters.receptive_fields import cells_of, place_cells

__all__ = ["GRID", "INTERPRETERS", "RANDOM", "ROWS", "SAMPLES", "Interpreter", "make_interpreter"]

RANDOM = ("rise", "lime", "smoothgrad")
"""Those that draw lots: their masks and their noise come from the seed in the question."""

Interpreter = Callable[[Sequence[Asked]], list[Explanation]]

MASKING = ("rise", "lime")
AT_LAYER = ("linear-approximation", "excitation-backprop", "grad-cam")
EXCITED_SIDE = 1 / 8  # of the input: where excitation is looked at; the paper has a quarter to an eighth
SAMPLES = {"rise": 1000, "lime": 500, "integrated-gradients": 32, "smoothgrad": 16}
GRID = 7
PIECES = 50
ROWS = 4  # at once on a CPU: maps of more are so large that their memory goes back to the system each time
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
    at, weights = layer or "", excitation.SignedWeights()
    cells = cells_of(classifier, at) if name in AT_LAYER else None
    net = for_inference(classifier) if name in MASKING else classifier.module
    alone = threading.Lock()  # passes hook the network; before and after them another thread may be at work

    def attribute(x: Any, images: list[Image], labels: list[int], seeds: list[int]) -> tuple[Any, Any]:
        """Logits and raw maps."""
        match name:
            case "deconvnet" | "guided-backprop":
                return gradients.rectified_gradient(classifier, x, labels, name)
            case "grad-cam" | "linear-approximation":
                return gradients.layer_attribution(classifier, x, labels, at, name)
            case "excitation-backprop":
                return excitation.excitation(classifier, x, labels, at, weights)
            case "rise":
                return masks.rise(classifier, net, x, labels, seeds, masks=count, grid=GRID, rows=rows)
            case "lime":
                return masks.lime(
                    classifier, net, x, images, labels, seeds, samples=count, pieces=PIECES, rows=rows
                )
            case "integrated-gradients":
                return gradients.integrated_gradients(classifier, x, labels, steps=count, rows=rows)
            case _:
                return gradients.smooth_grad(
                    classifier, x, labels, seeds, samples=count, spread=NOISE, rows=rows
                )

    def explain(asked: Sequence[Asked]) -> list[Explanation]:
        labels, seeds = [classifier.index(one.label) for one in asked], [one.seed for one in asked]
        images = [one.image for one in asked]
        shown = classifier.preprocess(images)
        with alone:
            logits, maps = attribute(shown, images, labels, seeds)
        logits, maps = logits.cpu(), maps.detach().cpu()  # at once: each copy would wait for a GPU
        sure = [float(classifier.confidence(logits[i : i + 1], label)[0]) for i, label in enumerate(labels)]
        heats = [gradients.normalise_heat(place(heat)) for heat in maps]
        return [Explanation(one, heat, name in RANDOM) for one, heat in zip(sure, heats)]

    def place(heat: Any) -> Any:
        return place_cells(heat.numpy(), cells, classifier.size) if name in AT_LAYER else heat

    return explain
