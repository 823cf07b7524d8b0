"""A text locator in a file of ONNX, retrained in torch: it answers as before, and learns where text is."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra torch is not installed; make test-real has it")
pytestmark = pytest.mark.real

from instar.adapters.onnx_module import OnnxModule  # noqa: E402  # torch first
from instar.core.errors import BadInput  # noqa: E402
from instar.imaging.words import Word  # noqa: E402
from instar.tasks.text.systems.locator import resize_picture  # noqa: E402
from instar.tasks.text.systems.ppocr import boxes_of, ppocr_v4  # noqa: E402
from instar.training.text.targets import TextExample, cut_square, target_of  # noqa: E402
from instar.training.text.train import (  # noqa: E402
    LocatorTuning,
    fine_tune_locator,
    network_input,
    text_loss,
)
from instar.worlds.page import scenes  # noqa: E402
from instar.zoo import fetch  # noqa: E402
from text_pictures import drawn_page  # noqa: E402


def word(x, y, width, height, *, ignored=False):
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return Word(np.array(corners, np.float32), "" if ignored else "word", ignored)


def network() -> OnnxModule:
    return OnnxModule(fetch("ppocr-v4-det")[0])


def examples(count=2):
    return [TextExample(one.image, one.knowledge["words"]) for one in scenes(count)]


def test_a_word_is_drawn_as_much_smaller_as_the_reader_grows_it():
    target = target_of([word(20, 20, 120, 40)], (100, 160))
    found, _ = boxes_of(target.text, np.ones(2, np.float32), (100, 160), least_score=0.5)
    np.testing.assert_allclose(found[0], [(20, 20), (140, 20), (140, 60), (20, 60)], atol=3)
    assert target.counts.all()


def test_where_nobody_can_read_nothing_counts():
    target = target_of([word(10, 10, 30, 20, ignored=True), word(60, 10, 40, 2)], (60, 120))
    assert not target.text.any()
    assert not target.counts[12:28, 12:38].any()
    assert not target.counts[11, 62:98].any()
    assert target.counts[40:].all()


def test_a_crop_takes_the_words_along():
    white = np.full((300, 400, 3), 255, np.uint8)
    white[100:140, 150:270] = 0  # the word is a black bar
    example = TextExample(white, [word(150, 100, 120, 40)])
    for seed in range(5):
        image, target = cut_square(example, 256, np.random.default_rng(seed))
        dark = image.max(axis=2) < 128
        assert image.shape == (256, 256, 3)
        assert dark[target.text > 0].mean() > 0.99
        assert target.text[~dark].sum() == 0
        assert (target.text > 0).sum() > 0.2 * (dark & (target.counts > 0)).sum()


def test_the_loss_asks_only_where_it_counts():
    text, counts = torch.zeros(1, 32, 32), torch.ones(1, 32, 32)
    text[0, 8:16, 8:24] = 1
    counts[0, 24:] = 0
    wrong = text.clone()
    wrong[0, 24:] = 1
    assert float(text_loss(wrong, text, counts)) == pytest.approx(float(text_loss(text, text, counts)))
    assert float(text_loss(1 - text, text, counts)) > 10 * float(text_loss(0.9 * text + 0.05, text, counts))


def test_torch_answers_as_onnx_runtime_does(tmp_path):
    page, module = drawn_page(), network().eval()
    resized, scale = resize_picture(page, 736, "min")
    with torch.inference_mode():
        map = module(torch.from_numpy(network_input(resized)[None]))[0, 0].numpy()
    found, _ = boxes_of(map, scale, page.shape[:2], least_score=0.5)
    (expected,) = ppocr_v4().predict([page])
    ordered = found[np.lexsort(found[:, 0].T)], expected.quads[np.lexsort(expected.quads[:, 0].T)]
    np.testing.assert_allclose(*ordered, atol=0.01)
    module.save(tmp_path / "saved.onnx")
    (again,) = ppocr_v4(weights=str(tmp_path / "saved.onnx")).predict([page])
    np.testing.assert_array_equal(again.quads, expected.quads)


def test_it_learns_and_does_so_the_same_way_twice():
    settings = LocatorTuning(epochs=4, batch=2, rate=2e-3, side=160)

    def loss_of(module):
        made = [cut_square(one, 160, np.random.default_rng(7)) for one in examples()]
        pictures = torch.from_numpy(np.stack([network_input(image) for image, _ in made]))
        maps = [
            torch.from_numpy(np.stack([getattr(t, name) for _, t in made])) for name in ("text", "counts")
        ]
        with torch.no_grad():
            return float(text_loss(module.eval()(pictures)[:, 0], *maps))

    before, heard = loss_of(network()), []
    first, second = (
        loss_of(fine_tune_locator(network(), examples(), settings, told=heard.append)) for _ in range(2)
    )
    assert first == second < before
    assert heard == [1, 2, 3, 4] * 2


def test_senseless_settings_are_named():
    with pytest.raises(BadInput, match="side is 100; it must be a multiple of 32"):
        LocatorTuning(side=100)
    with pytest.raises(BadInput, match="there is no picture to train on"):
        fine_tune_locator(network(), [], LocatorTuning())
