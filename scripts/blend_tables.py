#!/usr/bin/env python3
"""Tables of docs/blendshape.md: blends over 36 steps, faces, and which network each mesh gets.

    scripts/blend_tables.py [--supple target/release/supple] [--data DIR] [pairs|faces|chins|meshes|played …]

DIR holds the test data (blendshapes, meshes); without it only the zoo's pairs are blended. Needs nothing but Python.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

STEPS = "36"


def run(supple, *args):
    """What a command tells as JSON, or its last line of complaint."""
    done = subprocess.run([supple, *args, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "failed"
    return json.loads(done.stdout)


def zoo_pairs(supple, folder):
    """Models of the zoo and the same ones bent."""
    for name, triangles, axis in [
        ("bar", 1500, "1,0,0"),
        ("hand", 6000, "0,1,0"),
        ("cow", 6000, "0,0,1"),
        ("camel", 6000, "0,0,1"),
    ]:
        base = folder / f"{name}.obj"
        subprocess.run([supple, "zoo", name, "--triangles", str(triangles), "-o", str(base)], check=True, capture_output=True)
        target = folder / f"{name}-bent.obj"
        bend(base, target)
        yield f"zoo {name}, bent 110°", base, target


def bend(source, target, degrees=110.0, twist=60.0):
    """Bends an OBJ file along its longest side and twists it."""
    lines = source.read_text().splitlines()
    points = [[float(x) for x in l.split()[1:4]] for l in lines if l.startswith("v ")]
    low = [min(p[k] for p in points) for k in range(3)]
    high = [max(p[k] for p in points) for k in range(3)]
    size = [b - a for a, b in zip(low, high)]
    along = size.index(max(size))
    up, side = (along + 1) % 3, (along + 2) % 3
    radius = size[along] / math.radians(degrees)
    out, k = [], 0
    for line in lines:
        if not line.startswith("v "):
            if not line.startswith("vn "):
                out.append(line)
            continue
        d = [x - 0.5 * (a + b) for x, a, b in zip(points[k], low, high)]
        k += 1
        turn = math.radians(twist) * d[along] / size[along]
        d[up], d[side] = (
            math.cos(turn) * d[up] - math.sin(turn) * d[side],
            math.sin(turn) * d[up] + math.cos(turn) * d[side],
        )
        angle = d[along] / radius
        bent = list(d)
        bent[along] = (radius - d[up]) * math.sin(angle)
        bent[up] = radius - (radius - d[up]) * math.cos(angle)
        out.append("v " + " ".join(f"{x:.7g}" for x in bent))
    text = "\n".join(out)
    # Normals are gone: corners must not name them.
    text = "\n".join(
        "f " + " ".join(c.split("/")[0] for c in l.split()[1:]) if l.startswith("f ") else l
        for l in text.splitlines()
    )
    target.write_text(text + "\n")


def data_pairs(data):
    shapes = data / "blendshapes"
    for name, a, b in [
        ("man to woman", "smpl_man_woman/human_man.obj", "smpl_man_woman/human_woman.obj"),
        ("kick, first to fortieth", "kick_sequence/000.obj", "kick_sequence/040.obj"),
        ("ICT jawOpen", "ict_face/generic_neutral_mesh.obj", "ict_face/jawOpen.obj"),
        ("ICT mouthSmile_L", "ict_face/generic_neutral_mesh.obj", "ict_face/mouthSmile_L.obj"),
    ]:
        if (shapes / a).exists():
            yield name, shapes / a, shapes / b


def figures(told):
    """Three cells of a table: what was solved, and volume and edges beside linear blending."""
    n = told["network"]
    percent = lambda x: "–" if x is None else f"{100 * x:+.2f} %"
    return (
        f"{n['nodes']:,} / {n['springs']:,} | {percent(told['volume_error'])} / {percent(told['volume_error_linear'])}"
        f" | {100 * told['edge_error']:.2f} / {100 * told['edge_error_linear']:.2f} %"
    )


def pairs(supple, data, folder):
    print(f"| pair | nodes / springs | volume: springs / linear | edges: springs / linear | not proved | inverted tets | ms a step |")
    print("|---|---|---|---|---|---|---|")
    everything = list(zoo_pairs(supple, folder)) + list(data_pairs(data))
    for name, a, b in everything:
        hold = ["--hold", "agree"] if name.startswith("ICT") else []
        told = run(supple, "blend", str(a), str(b), "--steps", STEPS, *hold, "-o", str(folder / "take.pc2"))
        if isinstance(told, str):
            print(f"| {name} | {told} | | | | | |")
            continue
        print(
            f"| {name} | {figures(told)} | {told['frames_not_proved']} of {told['frames']} | {told['inverted_tets']} | {told['milliseconds']:.0f} |",
            flush=True,
        )


def played(supple, data, folder):
    """Every glTF file with morph targets, at the weights of its own clip."""
    print("| file | frames | targets | nodes / springs | volume: springs / linear | edges: springs / linear | not proved | ms a frame |")
    print("|---|---|---|---|---|---|---|---|")
    for path in sorted((data / "gltf").rglob("*.gl*")):
        told = run(supple, "blend", str(path), "-o", str(folder / "played.glb"))
        if isinstance(told, str):
            if "no morph targets" not in told and "no mesh" not in told:
                print(f"| {path.name} | {told} | | | | | | |", flush=True)
            continue
        print(
            f"| {path.name} | {told['frames']} | {len(told['targets'])} | {figures(told)} | {told['frames_not_proved']} | {told['milliseconds']:.1f} |",
            flush=True,
        )


def vertices(path):
    with open(path) as lines:
        return [tuple(map(float, l.split()[1:4])) for l in lines if l.startswith("v ")]


def fit(source, target):
    """The rigid motion that brings points nearest to others, as a function."""
    n = len(source)
    a = [sum(p[k] for p in source) / n for k in range(3)]
    b = [sum(p[k] for p in target) / n for k in range(3)]
    m = [[sum((q[r] - b[r]) * (p[c] - a[c]) for p, q in zip(source, target)) for c in range(3)] for r in range(3)]
    s = [
        [m[0][0] + m[1][1] + m[2][2], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]],
        [0, m[0][0] - m[1][1] - m[2][2], m[0][1] + m[1][0], m[2][0] + m[0][2]],
        [0, 0, m[1][1] - m[0][0] - m[2][2], m[1][2] + m[2][1]],
        [0, 0, 0, m[2][2] - m[0][0] - m[1][1]],
    ]
    for r in range(4):
        for c in range(r):
            s[r][c] = s[c][r]
    shift = sum(abs(x) for row in s for x in row) + 1e-30
    q = [1.0, 0.1, 0.2, 0.3]
    for _ in range(3000):
        q = [sum(s[r][c] * q[c] for c in range(4)) + shift * q[r] for r in range(4)]
        size = math.sqrt(sum(x * x for x in q))
        q = [x / size for x in q]
    return a, b, q


def turned(q, v):
    w, x, y, z = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    ]


def half(q):
    q = q if q[0] >= 0 else [-x for x in q]
    r = [q[0] + 1, *q[1:]]
    size = math.sqrt(sum(x * x for x in r))
    return [x / size for x in r]


def faces(supple, data, folder):
    """Each expression half on: edges, and how far what moves most is from half its rigid motion."""
    shapes = data / "blendshapes"
    jobs = []
    human = shapes / "makehuman"
    for target in sorted((human / "expression/units/caucasian").glob("*.target")):
        jobs.append((target.stem, human / "base.obj", [target]))
    for names in [["jawOpen"], ["mouthSmile_L"], ["jawOpen", "mouthSmile_L"]]:
        targets = [shapes / f"ict_face/{name}.obj" for name in names]
        jobs.append(("ICT " + " + ".join(names), shapes / "ict_face/generic_neutral_mesh.obj", targets))
    print("| expression | turns by | edges: springs / rotations / linear | place: springs / rotations / linear | Newton steps |")
    print("|---|---|---|---|---|")
    better = {"edges": 0, "place": 0}
    sums = [[0.0] * 3, [0.0] * 3]
    for name, base, targets in jobs:
        weights = ",".join(["0.5"] * len(targets))
        rest = vertices(base)
        diagonal = math.dist([min(p[k] for p in rest) for k in range(3)], [max(p[k] for p in rest) for k in range(3)])
        out, edges, steps = {}, {}, 0
        for mode in ["springs", "rotations", "linear"]:
            path = folder / f"{mode}.obj"
            told = run(
                supple, "blend", str(base), *map(str, targets), "--additive", "--weights", weights, "--hold", "agree", "--mode", mode,
                "-o", str(path),
            )
            if isinstance(told, str):
                print(f"| {name} | {told} | | | |")
                break
            out[mode], edges[mode] = vertices(path), told["edge_error"]
            steps = max(steps, told["newton_steps"])
        if len(out) < 3:
            continue
        # Twice what a linear blend does at one half is the whole way.
        moved = [[2 * (b - a) for a, b in zip(p, q)] for p, q in zip(rest, out["linear"])]
        size = [math.sqrt(sum(x * x for x in d)) for d in moved]
        most = [v for v, s in enumerate(size) if s > 0.6 * max(size)]
        source = [rest[v] for v in most]
        there = [[a + d for a, d in zip(rest[v], moved[v])] for v in most]
        a, b, q = fit(source, there)
        angle = 2 * math.degrees(math.acos(min(1.0, abs(q[0]))))
        middle, h = [0.5 * (x + y) for x, y in zip(a, b)], half(q)
        ideal = [[m + x for m, x in zip(middle, turned(h, [x - y for x, y in zip(p, a)]))] for p in source]
        place = {m: sum(math.dist(out[m][v], i) for v, i in zip(most, ideal)) / len(most) / diagonal for m in out}
        for k, mode in enumerate(["springs", "rotations", "linear"]):
            sums[0][k] += edges[mode]
            sums[1][k] += place[mode]
        better["edges"] += edges["springs"] < edges["linear"]
        better["place"] += place["springs"] < place["linear"]
        three = lambda d, f: " / ".join(f(d[m]) for m in ["springs", "rotations", "linear"])
        print(
            f"| {name} | {angle:.0f}° | {three(edges, lambda x: f'{100 * x:.2f}')} % | {three(place, lambda x: f'{x:.1e}')} | {steps} |",
            flush=True,
        )
    n = max(1, len(jobs))
    print(f"| mean | | {' / '.join(f'{100 * x / n:.2f}' for x in sums[0])} % | {' / '.join(f'{x / n:.1e}' for x in sums[1])} | |")
    print(f"\nSprings are nearer than linear in {better['edges']} of {len(jobs)} by edges, in {better['place']} by place.")


def pieces(path):
    """The vertices of each piece of an OBJ file, the largest first."""
    root = []

    def find(v):
        while root[v] != v:
            root[v] = root[root[v]]
            v = root[v]
        return v

    with open(path) as lines:
        for line in lines:
            if line.startswith("v "):
                root.append(len(root))
            elif line.startswith("f "):
                corners = [find(int(c.split("/")[0]) - 1) for c in line.split()[1:]]
                for v in corners:
                    root[v] = min(corners)
    found = {}
    for v in range(len(root)):
        found.setdefault(find(v), []).append(v)
    return sorted(found.values(), key=len, reverse=True)


def screw(a, b, q):
    """Half of a rigid motion, half of its turn about its axis, and the way back, as functions."""
    q = q if q[0] >= 0 else [-x for x in q]
    size = math.sqrt(sum(x * x for x in q[1:]))
    axis, angle = [x / size for x in q[1:]], 2 * math.atan2(size, q[0])
    way = [y - x for x, y in zip(a, b)]
    far = sum(x * y for x, y in zip(axis, way))
    across = [w - far * n for w, n in zip(way, axis)]
    side = [axis[(k + 1) % 3] * across[(k + 2) % 3] - axis[(k + 2) % 3] * across[(k + 1) % 3] for k in range(3)]
    hinge = [x + 0.5 * c + s / (2 * math.tan(angle / 2)) for x, c, s in zip(a, across, side)]
    h, inverse = half(q), [q[0], *(-x for x in q[1:])]

    def half_way(x):
        turn = turned(h, [p - c for p, c in zip(x, hinge)])
        return [c + t + 0.5 * far * n for c, t, n in zip(hinge, turn, axis)]

    def back(x):
        turn = turned(inverse, [p - c for p, c in zip(x, b)])
        return [c + t for c, t in zip(a, turn)]

    return math.degrees(angle), half_way, back


def chins(supple, data, folder):
    """The jaw of the ICT face turns as its lower teeth do, which are rigid pieces: how far skin and gums are from half that turn,
    what else happens to them halved in the frame of the jaw."""
    shapes = data / "blendshapes/ict_face"
    base = shapes / "generic_neutral_mesh.obj"
    if not base.exists():
        return
    rest, parts = vertices(base), pieces(base)
    diagonal = math.dist([min(p[k] for p in rest) for k in range(3)], [max(p[k] for p in rest) for k in range(3)])
    jaw = vertices(shapes / "jawOpen.obj")
    size = [math.dist(p, q) for p, q in zip(rest, jaw)]
    teeth = [v for part in parts[2:] for v in part if size[v] > 0.3 * max(size)]
    angle, half_way, back = screw(*fit([rest[v] for v in teeth], [jaw[v] for v in teeth]))
    print(f"The lower teeth turn by {angle:.1f}°.\n")
    print("| both half on | skin: springs / rotations / linear | gums: springs / rotations / linear |")
    print("|---|---|---|")
    for names in [["jawOpen"], ["jawOpen", "mouthSmile_L"]]:
        targets = [shapes / f"{name}.obj" for name in names]
        full = [list(p) for p in rest]
        for target in targets:
            for x, p, q in zip(full, rest, vertices(target)):
                for k in range(3):
                    x[k] += q[k] - p[k]
        cells = []
        found = {}
        for mode in ["springs", "rotations", "linear"]:
            path = folder / f"chin-{mode}.obj"
            weights = ",".join(["0.5"] * len(targets))
            options = ["--additive", "--weights", weights, "--hold", "agree", "--mode", mode, "-o", str(path)]
            told = run(supple, "blend", str(base), *map(str, targets), *options)
            if isinstance(told, str):
                print(f"| {' + '.join(names)} | {told} | |")
                return
            found[mode] = vertices(path)
        for part in parts[:2]:
            of = [v for v in part if size[v] > 0.6 * max(size)]
            ideal = [half_way([0.5 * (x + y) for x, y in zip(rest[v], back(full[v]))]) for v in of]
            off = [sum(math.dist(found[m][v], x) for v, x in zip(of, ideal)) / len(of) / diagonal for m in found]
            cells.append(" / ".join(f"{x:.1e}" for x in off))
        print(f"| {' + '.join(names)} | {cells[0]} | {cells[1]} |", flush=True)


def meshes(supple, data, folder):
    """The network each mesh gets, or why it gets none."""
    print("| mesh | nodes (inside) | springs | tets | pieces |")
    print("|---|---|---|---|---|")
    for path in sorted((data / "meshes").iterdir()):
        told = run(
            supple, "blend", str(path), str(path), "--weights", "0.5,0.5", "--mode", "rotations", "-o", str(folder / "half.ply")
        )
        if isinstance(told, str):
            print(f"| {path.name} | {told} | | | |", flush=True)
            continue
        n = told["network"]
        kind = f"{n['nodes']:,} ({n['inner']:,}{'' if n['tets'] else ', layer'})"
        print(f"| {path.name} | {kind} | {n['springs']:,} | {n['tets']:,} | {n['pieces']} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--supple", default="target/release/supple")
    default = os.environ.get("SUPPLE_TEST_DATA", "../shared/data")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(default))
    parser.add_argument("tables", nargs="*", default=["pairs", "faces", "chins", "meshes", "played"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for table in args.tables:
            {"pairs": pairs, "faces": faces, "chins": chins, "meshes": meshes, "played": played}[table](args.supple, args.data, pathlib.Path(folder))
            print()


if __name__ == "__main__":
    main()
