#!/usr/bin/env python3
"""Sends every character of a folder through supple and prints a table: edges opened, stretch, pairs added.

    scripts/characters.py FOLDER [--supple target/release/supple] [--keep OUT]

What is written goes to a temporary folder, or to OUT with --keep. Files of clips alone and files whose geometry is
compressed are listed with what supple says about them.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile


def run(supple, *words):
    """What a command prints as JSON; the first line of its error otherwise."""
    done = subprocess.run([supple, "--json", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return None, (lines[-1] if lines else f"exit {done.returncode}")
    return json.loads(done.stdout), None


def info(supple, path):
    return run(supple, "info", "--deep", path)


def opened(before, after):
    return max(0, after["open_edges_when_welded"] - before["open_edges_when_welded"])


def twist(found):
    """A quarter turn about the middle of the box, over its height."""
    low, high = found["bounds"]["min"], found["bounds"]["max"]
    middle = [0.5 * (a + b) for a, b in zip(low, high)]
    half = 0.5 * (high[1] - low[1])
    center = ",".join(f"{x:.6g}" for x in middle)
    return ["twist", "--center", center, "--axis", "0,1,0", "--degrees", "90",
            "--from", f"{-half:.6g}", "--to", f"{half:.6g}"]


def clips(found):
    return list(range(found["animations"])) or [None]


def bake(supple, path, out, found):
    """Every clip of a file: (worst stretch of a set, of an edge, pairs added, edges opened, error)."""
    sets = edges = 0.0
    added = open_edges = count = 0
    for clip in clips(found):
        scene = out / f"{path.stem}-{clip}.toml"
        chosen = [] if clip is None else ["--clip", clip]
        _, error = run(supple, "new", path, "-o", scene, "--force", *chosen)
        if error is None:
            told, error = run(supple, "--allow-outside", "bake", scene, "-o", out / f"{path.stem}-{clip}",
                              "--format", "glb", "--yes")
        if error is not None:
            return None, error
        for body in told["bodies"]:
            folds, flesh = body.get("folds"), body.get("flesh")
            if folds:
                edges = max(edges, folds["edge_stretch"])
                added = max([added] + [f["added"] for f in folds["frames"]])
                open_edges = max([open_edges] + [f["opened_edges"] for f in folds["frames"]])
            if flesh:
                sets = max(sets, flesh["most_stretch"])
        count += 1
    return (count, sets, edges, added, open_edges), None


def row(supple, path, name, out):
    found, error = info(supple, path)
    if error is not None or not found["triangles"]:
        return [name, error or "no triangles"] + [""] * 9
    cells = [name, f'{found["triangles"]:,}', f'{found["open_edges_when_welded"]:,}',
             f'{found["self_intersections"]:,}']
    played, error = bake(supple, path, out, found)
    cells += [error, "", "", ""] if error else [
        str(played[0]), f"{played[1]:.2f} R", f"{played[3]:,}", f"{played[4]:,}"]
    for words in (["deform", path, "-o", out / "deform.glb", "--exact-volume", *twist(found)],
                  ["remesh", path, "-o", out / "remesh.glb"]):
        _, error = run(supple, *words)
        after, wrong = info(supple, words[3]) if error is None else (None, error)
        if after is None:
            cells += [wrong, ""]
            continue
        added = max(0, after["self_intersections"] - found["self_intersections"])
        cells += [f"{opened(found, after):,}", f"{added:,}"]
    return cells


HEAD = ["file", "triangles", "open edges", "pairs", "clips baked", "sets stretched", "pairs added", "edges opened",
        "deform: edges opened", "pairs added", "remesh: edges opened", "pairs added"]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--supple", default="target/release/supple")
    options.add_argument("--keep", type=pathlib.Path)
    args = options.parse_args()
    print("| " + " | ".join(HEAD) + " |")
    print("|---" * len(HEAD) + "|")
    with tempfile.TemporaryDirectory() as folder:
        out = args.keep or pathlib.Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        for path in sorted(args.folder.rglob("*.gl[tb]*")):
            if path.suffix in (".glb", ".gltf"):
                name = str(path.relative_to(args.folder))
                print("| " + " | ".join(row(args.supple, path, name, out)) + " |", flush=True)


if __name__ == "__main__":
    main()
