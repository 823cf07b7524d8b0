"""Render the models of Debian's `sweethome3d-furniture` as cut-outs with alpha, several views each.

The first of two steps that make the pool that comes along (`select_cutouts.py` is the second). It needs
vtk, numpy and opencv-python-headless in an environment of its own, and the folder with the `.sh3f` files:

    python tools/render_furniture.py usr/share/sweethome3d/furniture RENDERED

Writes RENDERED/NAME.png and RENDERED/renderings.json: class, size in metres, creator, licence, view.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import cv2
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

CLASSES = {
    # what the catalogue calls it, as a pattern over "category/name" -> COCO's class
    r"Characters/(?!.*(annequin|Sitting|Cat|cat|Dog|dog|Horse|Chicken|Rabbit|Bulldog))": "person",
    r"Vehicles/(Concept|VW|Ford|Seat Leon|Peugeot|Renault|SUV|Chevrolet|Van|Smart)": "car",
    r"Vehicles/(City bus|Bus)": "bus",
    r"Vehicles/Truck": "truck",
    r"Vehicles/(Yamaha.*|Scooter)$": "motorcycle",
    r"Vehicles/(Bike|Bicycle)": "bicycle",
    r"/(Cat|Siamese cat)$": "cat",
    r"/(Dog|Bulldog)$": "dog",
    r"/Horse$": "horse",
    r"/(Chair.*|.* chair|Class seat|Armchair|.* armchair)$": "chair",
    r"/(Sofa.*|.*[cC]ouch|.* sofa)$": "couch",
    r"/(.*[pP]lant|Ficus|Yucca|Cactus|Spathiphyllum|Bonsai tree|Orchids|Tulips)$": "potted plant",
    r"/Vase$": "vase",
    r"/(Bench|Painted bench|Concrete bench|Wood bank|Little bank)$": "bench",
    r"/Fire hydrant$": "fire hydrant",
    r"/(Suitcase|Briefcase)$": "suitcase",
    r"/Backpack$": "backpack",
    r"/Handbag$": "handbag",
    r"/Umbrella$": "umbrella",
    r"/(Wine bottle|Beer bottle|Bottle)$": "bottle",
    r"/(Coffee mug|Coffee cup|Cup|Plastic cup)$": "cup",
    r"/(TV 16:9|TV)$": "tv",
    r"/(Laptop|Apple iBook)$": "laptop",
    r"/Toilets unit$": "toilet",
    r"/(Refrigerator|Fridge|Large fridge)$": "refrigerator",
    r"/Teddy bear$": "teddy bear",
    r"Kitchen/Microwave$": "microwave",
    r"/(Soccer ball|Basketball)$": "sports ball",
    r"/Rowboat$": "boat",
    r"/Skateboard$": "skateboard",
    r"/Keyboard$": "keyboard",
    r"Bedroom/Bed$": "bed",
}
YAWS = {"person": (-40, 0, 35, 180), "car": (-60, -25, 35, 90), "bus": (-40, 35), "truck": (-50, 40)}
USUAL_YAWS = (-30, 35)
PITCH = 6.0  # degrees: a camera a little above the middle
SIDE, FINER = 320, 3  # pixels of the longest side; drawn so many times larger
LICENCES = {
    "KatorLegaz": "CC-BY-3.0-US",
    "Reallusion": "CC-BY-3.0-US",
    "Scopia": "CC-BY-3.0",
    "BlendSwap-CC-BY": "CC-BY-3.0",
    "BlendSwap-CC-0": "CC0-1.0",
}


def main(furniture: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rendered = []
    for path in sorted(furniture.glob("*.sh3f")):
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
            for number, entry in read_catalogue(archive).items():
                label = class_of(entry)
                if label is None:
                    continue
                model = unpack(archive, entry["model"], Path(folder) / str(number))
                for yaw in YAWS.get(label, USUAL_YAWS):
                    pixels = render(model, entry, yaw)
                    if pixels is None:
                        print(f"nothing to see of {entry['id']}", file=sys.stderr)
                        continue
                    name = f"{path.stem}-{number}-{yaw}.png"
                    cv2.imwrite(str(out / name), cv2.cvtColor(pixels, cv2.COLOR_RGBA2BGRA))
                    rendered.append(
                        {
                            "file": name,
                            "label": label,
                            "model": entry["id"],
                            "creator": entry["creator"],
                            "licence": LICENCES[path.stem],
                            "metres": float(entry["height"]) / 100,
                            "yaw": yaw,
                        }
                    )
        (out / "renderings.json").write_text(json.dumps(rendered, indent=1) + "\n")
        print(path.stem, len(rendered))


def read_catalogue(archive: zipfile.ZipFile) -> dict[int, dict[str, str]]:
    text = archive.read("PluginFurnitureCatalog.properties").decode("latin-1")
    entries: dict[int, dict[str, str]] = {}
    for key, number, value in re.findall(r"(?m)^(\w+)#(\d+)=(.*?)\s*$", text):
        entries.setdefault(int(number), {})[key] = value
    return entries


def class_of(entry: dict[str, str]) -> str | None:
    where = f"{entry['category']}/{entry['name']}"
    return next((label for pattern, label in CLASSES.items() if re.search(pattern, where)), None)


def unpack(archive: zipfile.ZipFile, model: str, folder: Path) -> Path:
    """The model's own folder of the archive, with what VTK's reader stumbles over mended."""
    folder.mkdir()
    inside = PurePosixPath(model.lstrip("/"))
    for name in archive.namelist():
        if PurePosixPath(name).parent == inside.parent and not name.endswith("/"):
            content = archive.read(name)
            if name.endswith((".obj", ".mtl")):
                content = "\n".join(mended(content.decode("latin-1"))).encode("latin-1")
            (folder / PurePosixPath(name).name).write_bytes(content)
    return folder / inside.name


def mended(text: str) -> Iterator[str]:
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "f" and len(words) < 4:
            continue  # two vertices are no face
        if words and words[0] in ("usemtl", "newmtl"):
            yield f"{words[0]} m_{'_'.join(words[1:])}"  # names that are numbers are not read
        elif words and words[0] == "l":
            continue
        else:
            yield line


def render(model: Path, entry: dict[str, str], yaw: float) -> np.ndarray | None:
    """RGBA `uint8 (H, W, 4)` seen from the front, turned by `yaw` degrees; None where nothing shows."""
    importer = vtk.vtkOBJImporter()
    importer.SetFileName(str(model))
    material = model.with_suffix(".mtl")
    library = re.search(r"(?m)^mtllib\s+(.*?)\s*$", model.read_text("latin-1"))
    if library and (model.parent / library[1]).is_file():
        material = model.parent / library[1]
    if material.is_file():
        importer.SetFileNameMTL(str(material))
        importer.SetTexturePath(str(model.parent))
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(SIDE * FINER, SIDE * FINER)
    importer.SetRenderWindow(window)
    importer.Update()
    renderer = window.GetRenderers().GetFirstRenderer()
    turn = vtk.vtkTransform()
    turn.RotateY(yaw)
    turn.Concatenate(own_rotation(entry))
    for actor in renderer.GetActors():
        actor.SetUserTransform(turn)
        look = actor.GetProperty()
        look.SetAmbient(0.35)
        look.SetAmbientColor(look.GetDiffuseColor())
        look.SetDiffuse(0.75)
        look.SetSpecular(min(0.2, look.GetSpecular()))
        look.SetInterpolationToPhong()
    renderer.RemoveAllLights()
    kit = vtk.vtkLightKit()
    kit.SetKeyLightAngle(50, 20)
    kit.SetKeyToFillRatio(2.2)
    kit.AddLightsToRenderer(renderer)
    aim(renderer)
    dark, light = (shot(window, renderer, level) for level in (0.0, 1.0))
    opaque = 255.0 - (light - dark).mean(axis=2)
    colours = np.where(opaque[..., None] > 4, dark * 255 / np.maximum(opaque[..., None], 1), 0)
    full = np.dstack([np.clip(colours, 0, 255), np.clip(opaque, 0, 255)]).astype(np.uint8)
    return trimmed(full)


def own_rotation(entry: dict[str, str]) -> vtk.vtkMatrix4x4:
    matrix = vtk.vtkMatrix4x4()
    values = [float(value) for value in entry.get("modelRotation", "1 0 0 0 1 0 0 0 1").split()]
    for index, value in enumerate(values):
        matrix.SetElement(index // 3, index % 3, value)
    return matrix


def aim(renderer: vtk.vtkRenderer) -> None:
    """A camera with a long lens, a little above, that has all of the model in view."""
    x1, x2, y1, y2, z1, z2 = renderer.ComputeVisiblePropBounds()
    centre = np.array([(x1 + x2) / 2, (y1 + y2) / 2, (z1 + z2) / 2])
    reach = float(np.linalg.norm([x2 - x1, y2 - y1, z2 - z1]))
    pitch = np.radians(PITCH)
    camera = renderer.GetActiveCamera()
    camera.SetFocalPoint(*centre)
    camera.SetPosition(*(centre + 4 * reach * np.array([0, np.sin(pitch), np.cos(pitch)])))
    camera.SetViewUp(0, 1, 0)
    camera.SetViewAngle(16)
    renderer.ResetCameraClippingRange()


def shot(window: vtk.vtkRenderWindow, renderer: vtk.vtkRenderer, level: float) -> np.ndarray:
    renderer.SetBackground(level, level, level)
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.SetInputBufferTypeToRGB()
    grab.ReadFrontBufferOff()
    grab.Update()
    data = grab.GetOutput()
    columns, rows, _ = data.GetDimensions()
    return vtk_to_numpy(data.GetPointData().GetScalars()).reshape(rows, columns, 3)[::-1].astype(np.float32)


def trimmed(pixels: np.ndarray) -> np.ndarray | None:
    rows, columns = (np.flatnonzero((pixels[..., 3] > 8).any(axis=axis)) for axis in (1, 0))
    if len(rows) < 30 or len(columns) < 30:
        return None
    cut = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float32)
    scale = SIDE / max(cut.shape[:2])
    size = max(1, round(cut.shape[1] * scale)), max(1, round(cut.shape[0] * scale))
    weight = cut[..., 3:] / 255
    small = cv2.resize(np.dstack([cut[..., :3] * weight, cut[..., 3]]), size, interpolation=cv2.INTER_AREA)
    colours = small[..., :3] * 255 / np.maximum(small[..., 3:], 1)
    return np.dstack([np.clip(colours, 0, 255), small[..., 3]]).round().astype(np.uint8)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
