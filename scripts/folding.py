#!/usr/bin/env python3
"""Deforms every closed mesh of a folder by one edit of each kind and prints what it folds, and whether that is said.

    scripts/folding.py FOLDER [--supple target/release/supple] [--remesh] [--only NAME,…] [--edits move,…]

Each cell: pairs of intersecting triangles added, counted anew in the written file; "!" if the command did not say as
many; the seconds it took.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time


def run(supple, *words, limit=600):
    """What a command prints as JSON, else its error; what it says beside; seconds."""
    start = time.time()
    try:
        done = subprocess.run([supple, "--json", *map(str, words)], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, f"not done in {limit} s", limit
    secs = time.time() - start
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return None, (lines[-1] if lines else f"exit {done.returncode}"), secs
    return (json.loads(done.stdout) if done.stdout.strip() else {}), done.stderr, secs


def vertices(supple, path, folder):
    out = folder / "points.obj"
    run(supple, "convert", path, out)
    return [tuple(map(float, line.split()[1:4])) for line in out.open() if line.startswith("v ")]


def words_of(edit, points):
    """An edit for a shape: about its topmost vertex, or its middle."""
    low = [min(p[k] for p in points) for k in range(3)]
    high = [max(p[k] for p in points) for k in range(3)]
    middle = [0.5 * (a + b) for a, b in zip(low, high)]
    size = sum((b - a) ** 2 for a, b in zip(low, high)) ** 0.5
    long_axis = max(range(3), key=lambda k: high[k] - low[k])
    half = 0.5 * (high[long_axis] - low[long_axis])
    axis = [1 if k == long_axis else 0 for k in range(3)]
    across = [1 if k == (long_axis + 1) % 3 else 0 for k in range(3)]

    def farthest(direction):
        return max(points, key=lambda p: sum(a * b for a, b in zip(p, direction)))

    def text(*vectors):
        return ";".join(",".join(f"{x:.6g}" for x in v) for v in vectors)

    def along(p, direction, far):
        return [x + far * size * d for x, d in zip(p, direction)]

    top = farthest([0, 1, 0])
    side, other = farthest([1, 0, 0]), farthest([-1, 0, 0])
    if edit == "move":
        return ["move", "--center", text(top), "--by", text(along([0, 0, 0], [0, -1, 0], 0.12)),
                "--inner", 0.06 * size, "--outer", 0.25 * size]
    if edit == "points":
        return ["points", "--points", text(side, other), "--by", text(along([0, 0, 0], [0, 1, 0.3], 0.1)),
                "--outer", 0.25 * size]
    if edit == "paint":
        near = [min(points, key=lambda p: sum((a - b) ** 2 for a, b in zip(p, along(top, d, 0.05))))
                for d in ([1, -0.2, 0], [0, -0.2, 1])]
        return ["paint", "--stroke", text(top, *near), "--radius", 0.08 * size, "--depth", 0.03 * size,
                "--side", "out"]
    if edit == "twist":
        return ["twist", "--center", text(middle), "--axis", text(axis), "--degrees", 90, "--from", -half,
                "--to", half]
    if edit == "bend":
        return ["bend", "--center", text(middle), "--axis", text(across), "--along", text(axis), "--degrees", 45,
                "--width", 2 * half]
    if edit == "stamp":
        return ["stamp", "--tool", "ball", "--scale", 0.05 * size, "--from", text(along(top, [0, 1, 0], 0.06)),
                "--by", text(along([0, 0, 0], [0, -1, 0], 0.05)), "--outer", 0.1 * size]
    return ["curve", "--through", text(top, along(top, [0, 1, 0.1], 0.08), along(top, [0.3, 1.5, 0.2], 0.1)),
            "--inner", 0.05 * size, "--outer", 0.2 * size]


EDITS = ["move", "paint", "points", "twist", "bend", "stamp", "curve"]


def cell(supple, path, folder, before, edit, points, remesh):
    out = folder / "out.ply"
    switches = ["--remesh"] if remesh else []
    told, said, secs = run(supple, "deform", path, "-o", out, *switches, *words_of(edit, points))
    if told is None:
        return f"{said} ({secs:.0f} s)"
    after, error, _ = run(supple, "info", "--deep", out)
    if after is None:
        return error
    added = after["self_intersections"] - before["self_intersections"]
    opened = "" if after["open_edges_when_welded"] == before["open_edges_when_welded"] else ", opened"
    is_said = added <= 0 or ("intersect" in said and told["self_intersections"]["added"] >= added)
    mark = "" if is_said else "!"
    warned = " (not remeshed)" if "not remeshed" in said else ""
    return f"{max(0, added)}{mark}{opened}{warned}, {secs:.1f} s"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--supple", default="target/release/supple")
    options.add_argument("--remesh", action="store_true")
    options.add_argument("--only", type=lambda text: text.split(","))
    options.add_argument("--edits", type=lambda text: text.split(","), default=EDITS)
    args = options.parse_args()
    print("| " + " | ".join(["mesh", "pairs", *args.edits]) + " |")
    print("|---" * (len(args.edits) + 2) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in sorted(p for p in args.folder.iterdir() if p.is_file()):
            if args.only and not any(word in path.name for word in args.only):
                continue
            found, _, _ = run(args.supple, "info", "--deep", path)
            if not found or not found.get("triangles") or found["open_edges_when_welded"]:
                continue
            points = vertices(args.supple, path, folder)
            cells = [cell(args.supple, path, folder, found, edit, points, args.remesh) for edit in args.edits]
            print("| " + " | ".join([path.name, str(found["self_intersections"]), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
