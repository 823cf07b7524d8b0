"""PASCAL VOC folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput, UnreadablePicture
from instar.imaging.codecs import encode_png
from instar.scenes import voc

OBJECT = """<object>
  <name>dog</name><difficult>0</difficult>
  <bndbox>
    <xmin>1</xmin><ymin>2</ymin>
    <xmax>10</xmax><ymax>8.5</ymax>
  </bndbox>
  <part><name>head</name><bndbox><xmin>3</xmin><ymin>3</ymin><xmax>4</xmax><ymax>4</ymax></bndbox></part>
</object>"""


def pack(root: Path, **annotations: str) -> Path:
    for name in ("Annotations", "JPEGImages"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("a.png", "b.png"):
        (root / "JPEGImages" / name).write_bytes(encode_png(np.zeros((9, 12, 3), np.uint8)))
    for stem, xml in annotations.items():
        (root / "Annotations" / f"{stem}.xml").write_text(xml)
    return root


def test_boxes_begin_at_zero_and_end_behind_their_last_pixel(tmp_path):
    known, unknown, missing = voc(pack(tmp_path, a=f"<annotation>{OBJECT}</annotation>", z="<annotation/>"))
    assert [(o.label, o.box, o.mask) for o in known.objects] == [("dog", (0, 1, 10, 8.5), None)]
    assert known.image.shape == (9, 12, 3)
    assert (known.id, unknown.id, missing.id) == ("JPEGImages/a.png", "JPEGImages/b.png", "JPEGImages/z.jpg")
    assert (unknown.objects, missing.objects) == (None, ())
    with pytest.raises(UnreadablePicture, match=r"^missing$"):
        missing.read()


def test_the_limit_spares_the_files_behind_it(tmp_path):
    pack(tmp_path, a="<annotation/>", b="broken")
    assert [scene.id for scene in voc(tmp_path, limit=1)] == ["JPEGImages/a.png"]
    with pytest.raises(BadInput, match="limit -2"):
        voc(tmp_path, limit=-2)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_that_declares_entities_is_refused(tmp_path, encoding):
    bomb = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;">]><annotation>&y;</annotation>'
    pack(tmp_path)
    (tmp_path / "Annotations" / "a.xml").write_bytes(bomb.encode(encoding))
    with pytest.raises(BadInput, match=r"a\.xml declares a document type"):
        voc(tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("<xmax>10<", "<xmax>ten<", r"a\.xml line 5: xmax is 'ten', not a number"),
        ("<ymin>2<", "<ymin>inf<", r"a\.xml line 4: ymin is 'inf', not a number"),
        ("<xmax>10</xmax>", "", r"a\.xml: an object without xmax"),
        ("<name>dog</name>", "<name> </name>", r"a\.xml: an object without a name"),
        ("<xmax>10<", "<xmax>0<", r"a\.xml: the box of 'dog' has no area: 1 2 0 8\.5"),
        ("</bndbox>\n", "\n", r"a\.xml is not XML: mismatched tag: line 8"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, before, after, complaint):
    pack(tmp_path, a=f"<annotation>{OBJECT.replace(before, after, 1)}</annotation>")
    with pytest.raises(BadInput, match=complaint):
        voc(tmp_path)


def test_a_folder_of_another_layout_is_refused(tmp_path):
    with pytest.raises(BadInput, match="is no VOC folder: it needs Annotations and JPEGImages"):
        voc(tmp_path)
