#!/usr/bin/env python3
"""Sends every character of a folder through supple and prints a table: edges opened, stretch, pairs added, volume back.

    scripts/characters.py FOLDER [--supple target/release/supple] [--keep OUT] [--only WORD] [--kept]

With --kept takes keep the volume of their skinning also where `new` leaves that to a person, since it takes minutes. What is written goes to a temporary folder, or to OUT with --keep. Files of clips alone and files whose geometry is
compressed are listed with what supple says about them.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile


def run(supple, *words):
    """What a command prints as JSON; the last line of its error otherwise."""
    done = subprocess.run([supple, "--json", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        # What is wrong, or why: the last line says it.
        why = lines[-1].strip().removeprefix("because: ") if lines else f"exit {done.returncode}"
        return None, why
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


# How `new` writes the modifier that keeps the volume of skinning where that takes minutes.
LEFT_OUT = '# [[asset.pose]]\n# kind = "skinning"'


def bake(supple, path, out, found, kept):
    """Every clip of a file by new and bake."""
    worst = {"clips": 0, "sets": 0.0, "moves": None, "edges": 0.0, "added": 0, "opened": 0}
    for clip in clips(found):
        scene = out / f"{path.stem}-{clip}.toml"
        chosen = [] if clip is None else ["--clip", clip]
        _, error = run(supple, "new", path, "-o", scene, "--force", *chosen)
        if error is None and kept:
            scene.write_text(scene.read_text().replace(LEFT_OUT, LEFT_OUT.replace("# ", "")))
        if error is None:
            told, error = run(supple, "--allow-outside", "bake", scene, "-o", out / f"{path.stem}-{clip}",
                              "--format", "glb", "--yes")
        if error is not None:
            return None, error
        for body in told["bodies"]:
            folds, flesh = body.get("folds"), body.get("flesh")
            if folds:
                worst["edges"] = max(worst["edges"], folds["edge_stretch"])
                worst["added"] = max([worst["added"]] + [f["added"] for f in folds["frames"]])
                worst["opened"] = max([worst["opened"]] + [f["opened_edges"] for f in folds["frames"]])
            if flesh:
                worst["sets"] = max(worst["sets"], flesh["most_stretch"])
        moves, notes = moved(scene.read_text())
        if moves is not None and (worst["moves"] is None or moves < worst["moves"][0]):
            why = next((n for n in notes if n.startswith("flesh moves by")), "")
            worst["moves"] = (moves, why)
        worst["clips"] += 1
    return worst, None


def skin(supple, path, out, found):
    """Every clip of a file with its volume kept, over all frames: back, stretch (and by vertices alone), pairs, turned, edges."""
    if not found["skins"]:
        return None, "no skin"
    lost = missing = stretch = alone = 0.0
    pairs = turned = open_edges = 0
    for clip in clips(found):
        chosen = [] if clip is None else ["--clip", clip]
        told, error = run(supple, "skin", path, "-o", out / "skin.glb", "--volume", *chosen)
        if error is not None:
            return None, error
        kept = told.get("kept")
        if kept is None:
            return None, "nothing moves"
        whole = kept["lost"] * told["frames"]
        lost, missing = lost + whole, missing + (1 - kept["back"]) * whole
        stretch, alone = max(stretch, kept["stretch"]), max(alone, kept.get("stretch_alone", 0.0))
        pairs, turned = pairs + kept["pairs_added"], turned + kept["turned"]
        open_edges = max(open_edges, kept["opened_edges"])
    return (1 - missing / lost if lost else 1.0, (stretch, alone), pairs, turned, open_edges), None


def moved(text):
    """How far flesh moves, as the scene says; why there is none otherwise."""
    found = re.search(r"flesh moves by ([0-9.]+) % of the size", text)
    notes = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    return float(found.group(1)) if found else None, notes


def row(supple, path, name, out, volume_kept):
    found, error = info(supple, path)
    if error is not None or not found["triangles"]:
        return [name, error or "no triangles"] + [""] * (len(HEAD) - 2)
    cells = [name, f'{found["triangles"]:,}', f'{found["open_edges_when_welded"]:,}',
             f'{found["self_intersections"]:,}']
    kept, error = skin(supple, path, out, found)
    cells += [error, "", "", "", ""] if error else [
        f"{100 * kept[0]:.1f} %", f"{kept[1][0]:.3f}" + (f" ({kept[1][1]:.3f})" if kept[1][1] > 1.25 else ""), f"{kept[2]:,}", f"{kept[3]:,}", f"{kept[4]:,}"]
    played, error = bake(supple, path, out, found, volume_kept)
    if error:
        cells += [error, "", "", "", ""]
    else:
        moves = "–" if played["moves"] is None else f'{played["moves"][0]:.2f} %' + ("*" if played["moves"][1] else "")
        cells += [str(played["clips"]), f'{played["sets"]:.2f} R', moves, f'{played["added"]:,}', f'{played["opened"]:,}']
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


HEAD = ["file", "triangles", "open edges", "pairs", "skin: volume back", "stretch", "pairs added", "turned",
        "edges opened", "new, bake: clips", "sets stretched", "flesh moves", "pairs added", "edges opened",
        "deform: edges opened", "pairs added", "remesh: edges opened", "pairs added"]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--supple", default="target/release/supple")
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--only", help="files whose name holds this word", default="")
    options.add_argument("--kept", action="store_true", help="keep the volume of skinning in every take")
    args = options.parse_args()
    print("| " + " | ".join(HEAD) + " |")
    print("|---" * len(HEAD) + "|")
    with tempfile.TemporaryDirectory() as folder:
        out = args.keep or pathlib.Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        for path in sorted(args.folder.rglob("*.gl[tb]*")):
            name = str(path.relative_to(args.folder))
            if path.suffix in (".glb", ".gltf") and args.only in name:
                print("| " + " | ".join(row(args.supple, path, name, out, args.kept)) + " |", flush=True)


if __name__ == "__main__":
    main()
