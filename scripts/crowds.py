#!/usr/bin/env python3
"""Writes the crowd scenes, scenes/procdef-worms.toml and scenes/procdef-jellyfishes.toml: where copies stand comes from
a low-discrepancy sequence, so the same files come out everywhere.

    scripts/crowds.py [FOLDER]        default: scenes
"""
import math
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "scenes")


def share(k, step):
    """The k-th of evenly spread numbers in [0, 1)."""
    return (0.5 + k * step) % 1.0


def placement(at, turn):
    numbers = lambda v: ", ".join(f"{x:.3f}".rstrip("0").rstrip(".") for x in v)
    return f"{{ translate = [{numbers(at)}], rotate = [{numbers(turn)}] }}"


def copies(places):
    first, rest = places[0], places[1:]
    lines = "".join(f"  {p},\n" for p in rest)
    return f"placement = {first}\ncopies = [\n{lines}]\n"


WORM = """[[asset]]
name = "worm-{name}"
zoo = "worm"
triangles = 900
contact = {{}}
{copies}
[[asset.modifier]]
kind = "procdef"
passes = {{ plain = 1 }}
gravity = [0, -9.81, 0]
tets = {{ zoo = "worm", nodes = 73 }}
design = {{ arrows = [{{ points = [[-0.5, 0, 0], [0.5, 0, 0]] }}] }}
ground = {{ friction = {friction} }}
friction = {friction}

[[asset.modifier.charts]]
primary = [[0, 1], [0.25, 1.4], [0.5, 1], [0.75, 0.7143]]
volume = "both"
cycle = {cycle}
speed = {speed}

"""

WALL = """[[collider]]
kind = "box"
size = [{size}]
placement = {{ translate = [{at}] }}

"""


def worms():
    """Two layers across each other on a tray, heading both ways."""
    layers = [[], []]
    for k in range(101):
        layer, cell = k % 2, k // 2
        column, row = cell % 3, cell // 3
        along, across = 1.15 * (column - 1), 0.2 * (row - 8)
        head = 180 if share(k, 0.618034) < 0.5 else 0
        lean = 4 * (share(k, 0.754878) - 0.5)
        if layer == 0:
            layers[0].append(placement([along, 0.031, across], [0, head + lean, 0]))
        else:
            layers[1].append(placement([across, 0.115, along], [0, 90 + head + lean, 0]))
    friction = "{ forward = 0.2, backward = 1, sideways = 0.6 }"
    text = "# 101 worms crawl over and past each other on a tray (Fig. 10). Written by scripts/crowds.py.\n"
    text += 'supple = 1\nname = "procdef-worms"\n\n[time]\nend = "10 s"\nfps = 24\n\n'
    text += "[camera]\neye = [3.6, 4.6, 5.2]\ntarget = [0, -0.1, 0.2]\n\n"
    for name, places, cycle in [("lower", layers[0], 1.0), ("upper", layers[1], 1.1)]:
        one = dict(name=name, copies=copies(places), friction=friction, cycle=cycle, speed=round(1 / cycle, 4))
        text += WORM.format(**one)
    for sign in (-1, 1):
        text += WALL.format(size="0.2, 0.5, 4.4", at=f"{2.1 * sign}, 0.25, 0")
        text += WALL.format(size="4.4, 0.5, 0.2", at=f"0, 0.25, {2.1 * sign}")
    text += '[output]\nformats = ["glb"]\n'
    (FOLDER / "procdef-worms.toml").write_text(text)


JELLYFISH = """[[asset]]
name = "jellyfish-{name}"
zoo = "jellyfish"
triangles = 2400
contact = {{}}
{copies}
[[asset.modifier]]
kind = "procdef"
passes = {{ plain = 1 }}
tets = {{ zoo = "jellyfish", nodes = 315 }}
water = {{ normal_drag = 1 }}
friction = {{ forward = 0.1, backward = 0.1, sideways = 0.1 }}

[asset.modifier.design]
rule = {{ axis = [0, 1, 0] }}

[asset.modifier.design.amplitude]
marks = [
  {{ kind = "point", at = [0, 0.4, 0], value = 0 }},
  {{ kind = "point", at = [0, 0.25, 0], value = 1 }},
]

[[asset.modifier.charts]]
primary = [[0, 1], [0.25, 0.6667], [0.9, 1]]
volume = "secondary"
cycle = {cycle}
speed = {speed}

"""


def jellyfishes():
    """Thirty on a sphere swim towards the one in its middle."""
    groups = [[], []]
    radius = 1.85
    for k in range(30):
        y = 1 - (2 * k + 1) / 30
        angle = k * math.pi * (3 - math.sqrt(5))
        side = math.sqrt(1 - y * y)
        out = (side * math.cos(angle), y, side * math.sin(angle))
        # The bell's top, +y, is turned to the middle: about x by the slope, then about y.
        inward = [-c for c in out]
        slope = math.degrees(math.acos(inward[1]))
        about = math.degrees(math.atan2(inward[0], inward[2]))
        groups[k % 2].append(placement([radius * c for c in out], [slope, about, 0]))
    groups[0].append(placement([0, 0, 0], [0, 0, 0]))
    text = "# 31 jellyfish swim into each other (Fig. 10). Written by scripts/crowds.py.\n"
    text += 'supple = 1\nname = "procdef-jellyfishes"\n\n[time]\nend = "10 s"\nfps = 24\n\n'
    text += "[camera]\neye = [0, 1.8, 7.2]\ntarget = [0, 0, 0]\n\n"
    for name, places, cycle in [("a", groups[0], 1.0), ("b", groups[1], 1.2)]:
        text += JELLYFISH.format(name=name, copies=copies(places), cycle=cycle, speed=round(2 / cycle, 4))
    text += '[output]\nformats = ["glb"]\n'
    (FOLDER / "procdef-jellyfishes.toml").write_text(text)


worms()
jellyfishes()
