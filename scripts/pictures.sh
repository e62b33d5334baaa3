#!/usr/bin/env bash
# Makes every picture of the documents, from nothing: docs/pictures/*.png.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
supple() { target/release/supple --quiet "$@"; }
out=docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# A few moments of a played scene.
supple render scenes/boxer.toml -o "$out/boxer.png" --sheet 4 --size 640x400
supple render scenes/camel.toml -o "$out/camel.png" --sheet 4 --size 640x400 --from 1,0.25,0.5

# Sculpting: before and after, coloured by how far each vertex went.
supple zoo ball --triangles 81920 -o "$work/ball.ply"
supple deform "$work/ball.ply" -o "$work/pushed.ply" \
    move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2
supple render "$work/ball.ply" --compare "$work/pushed.ply" -o "$out/sculpt-move.png" \
    --size 1280x560 --from 0.7,0.5,1
supple zoo bar --triangles 40000 -o "$work/bar.ply"
supple deform "$work/bar.ply" -o "$work/twisted.ply" \
    twist --axis 1,0,0 --degrees 180 --from -2 --to 2
supple deform "$work/twisted.ply" -o "$work/bent.ply" bend --degrees 90 --width 4
supple render "$work/bar.ply" --compare "$work/bent.ply" -o "$out/sculpt-bend.png" \
    --size 1280x560 --from 0.2,0.4,1

# The zoo, one picture each.
for animal in cow head hand jelly; do
    supple zoo "$animal" -o "$work/$animal.glb"
    supple render "$work/$animal.glb" -o "$out/$animal.png" --size 640x480
done

# A painted field as a heat-map.
supple render "$work/cow.glb" -o "$out/softness.png" --size 800x500 --field softness
