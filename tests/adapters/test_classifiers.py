"""The classifiers: the embedded one, and those of the zoo against ONNX Runtime."""

from pathlib import Path

import numpy as np
import pytest

import instar.adapters
from instar.adapters.imagenet import coco_outputs, imagenet_names
from instar.worlds import street
from instar.worlds.sprites import SPRITE_COLOURS


def test_the_table_of_names_has_no_class_twice_and_no_person():
    used = [i for own in coco_outputs().values() for i in own]
    assert len(used) == len(set(used))
    assert 0 <= min(used) <= max(used) < 1000
    assert len(set(imagenet_names())) == 1000
    assert "person" not in coco_outputs()
    named = {name: [imagenet_names()[i] for i in own] for name, own in coco_outputs().items()}
    assert named["zebra"] == ["zebra"]
    assert named["cat"] == ["tabby", "tiger cat", "Persian cat", "Siamese cat", "Egyptian cat"]
    assert {"Chihuahua", "Mexican hairless"} <= set(named["dog"])
    assert "timber wolf" not in named["dog"]


@pytest.mark.real
def test_mobilenet_answers_as_onnx_runtime_does():
    import onnxruntime
    import torch

    from instar.adapters.zoo_classifiers import zoo_classifier
    from instar.zoo import fetch

    net = zoo_classifier("mobilenet-v2", classes="imagenet")
    session = onnxruntime.InferenceSession(str(fetch("mobilenet-v2")[0]), providers=["CPUExecutionProvider"])
    images = [scene.image for scene in street.scenes(2)]
    x = net.preprocess(images)
    with torch.no_grad():
        ours = net.module(x).numpy()
    for i in range(len(images)):
        (theirs,) = session.run(None, {session.get_inputs()[0].name: x[i : i + 1].numpy()})
        np.testing.assert_allclose(ours[i : i + 1], theirs, atol=1e-4)


@pytest.mark.real
def test_resnet50_answers_as_onnx_runtime_does():
    """Nobody publishes it as ONNX: the graph is made of the topology in its own file, layer by layer."""
    import onnxruntime
    import torch

    from instar.adapters.zoo_classifiers import _tfjs, zoo_classifier
    from instar.zoo import fetch
    from keras_to_onnx import keras_to_onnx

    manifest, *shards = fetch("resnet50")
    graph = keras_to_onnx(manifest, _tfjs(manifest, shards)).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    net = zoo_classifier("resnet50", classes="imagenet")
    x = net.preprocess([scene.image for scene in street.scenes(2)])
    with torch.no_grad():
        ours = net.module(x).numpy()
    (theirs,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.real
def test_resnet50_knows_the_photographs_of_the_zoo():
    """Its colours are right too: what it says of pictures that everybody knows."""
    import cv2

    from instar.adapters.zoo_classifiers import zoo_classifier
    from instar.zoo import fetch

    net = zoo_classifier("resnet50")
    for name, label in (("cat", "cat"), ("motorcycle", "motorcycle"), ("bus", "bus")):
        image = cv2.imread(str(fetch(name)[0]))[..., ::-1]
        (found,) = net.classify([np.ascontiguousarray(image)])
        assert found[net.index(label)] >= 0.6, name


def test_the_embedded_weights_are_small():
    files = sorted(Path(instar.adapters.__file__).parent.glob("*.npz"))
    names = ["photo_classifier.npz", "street_classifier.npz", "street_classifier_twin.npz"]
    assert [file.name for file in files] == names
    assert sum(file.stat().st_size for file in files) < 2_000_000


@pytest.mark.real
def test_the_embedded_classifier_has_the_labels_of_the_drawn_street():
    from instar.adapters.street_classifier import load_street_classifier

    assert load_street_classifier().labels == tuple(SPRITE_COLOURS)
