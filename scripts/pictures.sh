#!/usr/bin/env bash
# Makes every picture of the documents, from nothing: docs/pictures/*.png, and the same as Markdown
# with the picture inside for the pages of rustdoc.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet --locked
supple() { target/release/supple --quiet "$@"; }
out=docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# The zoo on one photograph, and a few moments of a played scene.
supple render scenes/zoo.toml -o "$out/zoo.png" --size 1200x560 --small --from 0.1,0.25,1
supple render scenes/boxer.toml -o "$out/boxer.png" --sheet 4 --size 560x360 --small --from 0.3,0.2,1

# Sculpting: before and after, coloured by how far each vertex went.
supple zoo ball --triangles 81920 -o "$work/ball.ply"
supple deform "$work/ball.ply" -o "$work/pushed.ply" \
    move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2
supple render "$work/ball.ply" --compare "$work/pushed.ply" -o "$out/sculpt-move.png" \
    --size 1100x460 --small --from 0.7,0.5,1
supple zoo bar --triangles 40000 -o "$work/bar.ply"
supple deform "$work/bar.ply" -o "$work/bent.ply" \
    twist --axis 1,0,0 --degrees 180 --from -2 --to 2 bend --degrees 90 --width 4
supple render "$work/bar.ply" --compare "$work/bent.ply" -o "$out/sculpt-bend.png" \
    --size 1100x460 --small --from 0.2,0.4,1

# A painted field as a heat-map.
supple zoo cow -o "$work/cow.glb"
supple render "$work/cow.glb" -o "$out/softness.png" --size 800x500 --small --field softness

# The figures of the thesis, each at the end of its motion.
for scene in scenes/figures/*.toml; do
    supple render "$scene" -o "$out/figures-$(basename "$scene" .toml).png" \
        --frame "$(awk -F'"' '/^end =/ { print 24 * $2 }' "$scene")" --size 320x220 --small --from 0.3,0.3,1
done

# For rustdoc, which copies no files beside its pages.
inline() { printf '![%s](data:image/png;base64,%s)\n' "$2" "$(base64 -w0 "$1")"; }
supple render "$work/ball.ply" --compare "$work/pushed.ply" -o "$work/sculpt.png" \
    --size 640x280 --small --from 0.7,0.5,1
inline "$work/sculpt.png" "A ball before and after a move" > "$out/sculpt.md"
supple render scenes/zoo.toml -o "$work/zoo.png" --size 640x300 --small --from 0.1,0.25,1
inline "$work/zoo.png" "The zoo" > "$out/zoo.md"
