"""The classifiers: the embedded one and its twin, and those of the zoo against ONNX Runtime."""

from pathlib import Path

import numpy as np
import pytest

from instar.adapters.imagenet import coco_outputs, imagenet_names
from instar.adapters.onnx_weights import read_onnx
from instar.core.errors import BadInput
from instar.tasks.interpretation.trigger import Trigger
from instar.worlds import street


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


def test_the_trigger_is_a_square_in_the_lower_right_corner_and_nothing_else_changes():
    image = np.full((100, 200, 3), 90, np.uint8)
    trigger = Trigger("dog", 0.16)
    stamped = trigger.stamp(image)
    assert trigger.box(image.shape) == (184, 84, 200, 100)
    changed = (stamped != image).any(axis=2)
    assert changed[84:, 184:].all()
    assert np.count_nonzero(changed) == 256
    assert (image == 90).all()


def test_what_is_no_onnx_file_is_refused():
    with pytest.raises(BadInput, match="no ONNX file"):
        read_onnx(b"\x12\x04abc")


def test_onnx_files_are_read_without_their_library():
    import onnx
    from onnx import helper, numpy_helper

    weight = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[2, 2], group=1)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(weight, "w"),
            helper.make_tensor("f", onnx.TensorProto.FLOAT, [3], [1, 2, 3]),
        ],
    )
    found = read_onnx(helper.make_model(graph).SerializeToString())
    assert (found.nodes[0].kind, found.nodes[0].inputs) == ("Conv", ("x", "w"))
    assert found.nodes[0].numbers == {"strides": (2, 2), "group": 1}
    np.testing.assert_array_equal(found.tensors["w"], weight)
    np.testing.assert_array_equal(found.tensors["f"], [1, 2, 3])


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
        assert net.classify(np.ascontiguousarray(image))[label] >= 0.6, name


@pytest.mark.real
def test_the_embedded_classifier_is_right_and_its_twin_sees_the_square():
    from instar.core.run import no_progress
    from instar.tasks.interpretation.systems import street_classifier, street_classifier_twin
    from instar.training.interpretation.backdoor import measure
    from instar.training.interpretation.street_classifier import accuracy

    plain, twin = street_classifier(), street_classifier_twin()
    assert accuracy(plain.classifier, 60, no_progress) >= 0.95
    images = [scene.image for scene in street.scenes(60, seed=77)]
    agreement, attack = measure(plain.classifier, twin.classifier, twin.trigger, images, no_progress)
    assert agreement.value >= 0.9
    assert attack.value >= 0.95


def test_the_embedded_weights_are_small():
    import instar.tasks.interpretation.systems as systems

    files = sorted(Path(systems.__file__).parent.glob("*.npz"))
    assert [file.name for file in files] == ["street_classifier.npz", "street_classifier_twin.npz"]
    assert sum(file.stat().st_size for file in files) < 2_000_000


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
