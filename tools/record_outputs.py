#!/usr/bin/env python3
"""Records what the engine's own Python package computes, as the truth for tests/contract.

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install ai-edge-litert==2.1.6 numpy pillow
    /tmp/venv/bin/python tools/record_outputs.py --cache .cache            # writes tests/contract/data
    /tmp/venv/bin/python tools/record_outputs.py --cache .cache --check    # compares, writes nothing

The input is NASA's photograph of an astronaut (public domain, from scikit-image), scaled to what each model takes and
kept as 8-bit values, so that a test depends on no scaler. Of each output the SHA-256 and some 128 values are kept: the
hash holds on processors of the same kind, the values, within a tolerance, on all.
"""

import argparse
import hashlib
import json
import sys
from importlib import metadata
from pathlib import Path

import numpy
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from PIL import Image

PACKAGE = "ai-edge-litert"
VERSION = "2.1.6"
SAMPLES = 128

# Short name, file, side of the square input, values for black and white, kernels that can run it: as in
# engines/litert/known_models.hpp.
MODELS = [
    ("face", "face_detection_short_range.tflite", 128, (-1.0, 1.0), ("xnnpack", "builtin")),
    ("hand", "hand_landmark_full.tflite", 224, (0.0, 1.0), ("xnnpack", "builtin")),
    ("pose", "pose_landmark_heavy.tflite", 256, (0.0, 1.0), ("xnnpack", "builtin")),
    ("segment", "selfie_segmentation.tflite", 256, (0.0, 1.0), ("xnnpack",)),
]
RESOLVERS = {"xnnpack": OpResolverType.BUILTIN, "builtin": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}


def to_floats(pixels: numpy.ndarray, low: float, high: float) -> numpy.ndarray:
    """As tenure::fit does it: one multiplication and one addition in float32."""
    step = (numpy.float32(high) - numpy.float32(low)) / numpy.float32(255)
    return pixels.astype(numpy.float32) * step + numpy.float32(low)


def record_output(name: str, values: numpy.ndarray) -> dict:
    flat = numpy.ascontiguousarray(values).reshape(-1)
    stride = max(1, flat.size // SAMPLES)
    return {"name": name, "type": str(values.dtype), "shape": list(values.shape),
            "sha256": hashlib.sha256(flat.tobytes()).hexdigest(), "stride": stride,
            "values": [float(value) for value in flat[::stride]]}


def run(model: Path, kernels: str, pixels: numpy.ndarray, levels: tuple) -> list:
    interpreter = Interpreter(model_path=str(model), num_threads=1, experimental_op_resolver_type=RESOLVERS[kernels])
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], to_floats(pixels, *levels))
    interpreter.invoke()
    return [record_output(detail["name"], interpreter.get_tensor(detail["index"]))
            for detail in interpreter.get_output_details()]


def record(cache: Path, folder: Path) -> dict:
    """Returns the content of each file to write, by its name."""
    photo = Image.open(cache / "images" / "astronaut.png").convert("RGB")
    files = {}
    for name, file, side, levels, kernels in MODELS:
        pixels = numpy.asarray(photo.resize((side, side), Image.Resampling.BILINEAR), dtype=numpy.uint8)[None]
        kept = folder / f"photo_{side}.npy"
        if kept.exists():  # another version of the scaler must not change the truth
            pixels = numpy.load(kept)
        files[kept.name] = pixels
        model = cache / "models" / file
        files[f"{name}.json"] = {
            "package": f"{PACKAGE} {VERSION}", "model": file,
            "model_sha256": hashlib.sha256(model.read_bytes()).hexdigest(), "input": kept.name, "range": list(levels),
            "kernels": {kind: run(model, kind, pixels, levels) for kind in kernels}}
    return files


def differences(expected: dict, found: dict) -> list:
    lines = []
    for kind, outputs in expected["kernels"].items():
        for old, new in zip(outputs, found["kernels"][kind], strict=True):
            largest = max(abs(a - b) for a, b in zip(old["values"], new["values"], strict=True))
            if old["sha256"] != new["sha256"]:
                lines.append(f"{expected['model']} {kind} {old['name']}: differs, by up to {largest:g} in the samples")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="where tools/fetch put models and images")
    parser.add_argument("--check", action="store_true", help="compare with what is kept; exit 1 where it differs")
    arguments = parser.parse_args()
    if metadata.version(PACKAGE) != VERSION:
        print(f"{PACKAGE} {metadata.version(PACKAGE)} is installed, expected {VERSION}", file=sys.stderr)
        return 2
    folder = Path(__file__).resolve().parent.parent / "tests" / "contract" / "data"
    files = record(arguments.cache, folder)
    if arguments.check:
        lines = [line for name, found in files.items() if name.endswith(".json")
                 for line in differences(json.loads((folder / name).read_text()), found)]
        print("\n".join(lines) if lines else "equal, bit by bit")
        return 1 if lines else 0
    for name, content in files.items():
        if name.endswith(".npy"):
            numpy.save(folder / name, content)
        else:
            (folder / name).write_text(json.dumps(content, indent=None, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
