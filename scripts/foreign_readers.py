#!/usr/bin/env python3
"""Bakes scenes and lets other programs read what was written: the glTF validator, and Blender.

    npm install --prefix /tmp/gltf gltf-validator
    python3 -m venv /tmp/bpy && /tmp/bpy/bin/pip install bpy
    NODE_PATH=/tmp/gltf/node_modules BPY=/tmp/bpy/bin/python scripts/foreign_readers.py target/release/supple

A program that is not there is left out, with a word. Ends with 1 if one finds an error, or sees another shape.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCENES = pathlib.Path(__file__).resolve().parent.parent / "scenes"
# Points that are moved one by one, a skinned body, several bodies, flesh on a path.
BAKED = ["twist", "boxer-flesh", "three-bone-bar", "jelly"]
FRAMES = 12

VALIDATE = """
const validator = require('gltf-validator'), fs = require('fs');
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])), { maxIssues: 20 })
    .then(r => console.log(JSON.stringify(r.issues)));
"""

# Where the vertices of all meshes are at the last frame, as a box, in the axes of glTF.
MEASURE = """
import json, sys
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = 24
bpy.ops.import_scene.gltf(filepath=sys.argv[1])
frame = float(sys.argv[2])
bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
graph = bpy.context.evaluated_depsgraph_get()
low, high = [1e30] * 3, [-1e30] * 3
for thing in bpy.context.scene.objects:
    if thing.type != "MESH":
        continue
    seen = thing.evaluated_get(graph)
    for vertex in seen.data.vertices:
        x, y, z = seen.matrix_world @ vertex.co
        for k, value in enumerate((x, z, -y)):
            low[k], high[k] = min(low[k], value), max(high[k], value)
print("BOX " + json.dumps(low + high))
"""


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def has_validator():
    node = shutil.which("node")
    return bool(node) and run(node, "-e", "require('gltf-validator')").returncode == 0


def box_of_plys(files):
    """The box of all vertices of binary PLY files that begin with float x, y, z."""
    import struct

    low, high = [1e30] * 3, [-1e30] * 3
    for file in files:
        head, _, body = file.read_bytes().partition(b"end_header\n")
        lines = head.decode().split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith("element vertex"))
        count = int(lines[at].split()[-1])
        sizes = {"float": 4, "uchar": 1, "int": 4, "uint": 4, "double": 8}
        width = 0
        for line in lines[at + 1 :]:
            if not line.startswith("property"):
                break
            width += sizes[line.split()[1]]
        for i in range(count):
            for k, value in enumerate(struct.unpack_from("<3f", body, i * width)):
                low[k], high[k] = min(low[k], value), max(high[k], value)
    return low + high


def validate(glb):
    issues = json.loads(run("node", "-e", VALIDATE, str(glb)).stdout)
    found = ", ".join(f"{m['code']} at {m['pointer']}" for m in issues["messages"] if m["severity"] == 0)
    print(f"{glb.name}: validator: {issues['numErrors']} errors, {issues['numWarnings']} warnings {found}")
    return issues["numErrors"] == 0


def measure(glb, plys, bpy):
    frame = FRAMES - 1
    told = run(bpy, "-c", MEASURE, str(glb), str(frame))
    line = next((line for line in told.stdout.split("\n") if line.startswith("BOX ")), None)
    if line is None:
        print(f"{glb.name}: Blender cannot read it: {told.stderr[-300:]}")
        return False
    seen, own = json.loads(line[4:]), box_of_plys(plys)
    size = max(b - a for a, b in zip(own[:3], own[3:]))
    off = max(abs(a - b) for a, b in zip(seen, own)) / size
    print(f"{glb.name}: Blender: box at frame {frame} off by {off:.1e} of its size")
    return off < 1e-3


def main():
    supple = sys.argv[1] if len(sys.argv) > 1 else "target/release/supple"
    bpy = os.environ.get("BPY", sys.executable)
    validator = has_validator()
    blender = run(bpy, "-c", "import bpy").returncode == 0
    if not validator:
        print("gltf-validator is not installed: left out")
    if not blender:
        print("bpy is not installed: left out")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in BAKED:
            out = pathlib.Path(folder) / name
            done = run(supple, "bake", str(SCENES / f"{name}.toml"), "-o", str(out), "--frames", f"0..{FRAMES}",
                       "--format", "glb,ply")
            if done.returncode != 0:
                sys.exit(f"{name}: {done.stderr}")
            for glb in sorted(out.rglob("*.glb")):
                if validator:
                    good &= validate(glb)
                if blender:
                    good &= measure(glb, sorted(out.rglob(f"*{FRAMES - 1:04}.ply")), bpy)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
