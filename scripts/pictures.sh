#!/usr/bin/env bash
# Makes every picture of the documents, from nothing: docs/pictures/*.png, and small ones as Markdown
# with the picture inside for the pages of rustdoc, which copies no files beside its pages.
#
# scripts/pictures.sh            makes all of them
# scripts/pictures.sh ring zoo   makes those
#
# SUPPLE names another binary than the release build.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${SUPPLE:-}" ]; then
    cargo build --release --quiet --locked
    SUPPLE=target/release/supple
fi
out=docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
wanted=" $* "

supple() { "$SUPPLE" --quiet "$@"; }

# picture NAME SIZE RENDER-ARGUMENTS…: docs/pictures/NAME.png.
picture() {
    local name=$1 size=$2
    shift 2
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
    echo "$name"
    supple render "$@" -o "$out/$name.png" --size "$size" --small
}

# inline NAME SIZE WORDS RENDER-ARGUMENTS…: docs/pictures/NAME.md.
inline() {
    local name=$1 size=$2 words=$3
    shift 3
    [ "$wanted" = "  " ] || [[ $wanted == *" $name.md "* ]] || return 0
    echo "$name.md"
    supple render "$@" -o "$work/inline.png" --size "$size" --small
    printf '![%s](data:image/png;base64,%s)\n' "$words" "$(base64 -w0 "$work/inline.png")" \
        > "$out/$name.md"
}

# smoke NAME SIZE ARGUMENTS…: docs/pictures/NAME.png by `supple smoke`.
smoke() {
    local name=$1 size=$2
    shift 2
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
    echo "$name"
    supple smoke "$@" -o "$out/$name.png" --size "$size" --small
}

# Number of the last frame of a scene.
last_frame() { awk -F'"' '/^end =/ { print int(24 * $2) }' "$1"; }

# Shapes that several pictures show.
supple zoo bar --triangles 40000 -o "$work/bar.ply"
supple deform "$work/bar.ply" -o "$work/bent.ply" \
    twist --axis 1,0,0 --degrees 180 --from -2 --to 2 bend --degrees 90 --width 4
supple zoo cow -o "$work/cow.glb"
supple zoo ball --triangles 20480 -o "$work/ball.ply"
supple deform "$work/ball.ply" -o "$work/horn.ply" \
    move --center 0.9,0,0 --by 1.2,0.4,0 --inner 0.3 --outer 1
supple remesh "$work/horn.ply" -o "$work/even.ply" --feature-angle 180
supple zoo shoulder -o "$work/shoulder.glb"
supple skin "$work/shoulder.glb" -o "$work/linear.obj" --time 1
supple skin "$work/shoulder.glb" -o "$work/kept.obj" --volume --time 1
supple zoo rigged-bar --triangles 20000 -o "$work/rigged.glb"
supple skin "$work/rigged.glb" -o "$work/linear-bar.obj" --clip bend --time 1
supple skin "$work/rigged.glb" -o "$work/kept-bar.obj" --volume --clip bend --time 1

# The zoo on one photograph.
picture zoo 1200x560 scenes/zoo.toml --from 0.1,0.25,1

# Sculpting: the tool with its regions, a print, exact maps, a figure modelled from a ball.
move=(scenes/push.toml --sheet 3 --columns 3 --show boundaries,curves --from 1,0.35,0.9)
picture sculpt-move 400x340 "${move[@]}"
stamp=(scenes/stamp.toml --sheet 3 --columns 3 --show boundaries --from 0.8,0.35,1)
picture sculpt-stamp 400x340 "${stamp[@]}"
bend=("$work/bar.ply" --compare "$work/bent.ply" --from 0.2,0.4,1)
picture sculpt-bend 1200x420 "${bend[@]}"
snail=scenes/figures/2-17-snail.toml
picture sculpt-snail 400x340 "$snail" --sheet 3 --columns 3 --from 1,0.35,0.6

# Flesh that follows the motion, with its masses on their springs.
flesh=(scenes/cow-flesh.toml --frames 14..37 --sheet 3 --columns 3
    --show springs,anchors --from 1,0.25,0.7)
picture secondary-cow 400x360 "${flesh[@]}"
picture secondary-boxer 300x400 scenes/boxer-flesh.toml --frames 10..32 --sheet 4 --columns 4 \
    --show springs,anchors --from 0.5,0.15,1

# Skinning: linear blending beside the same with the volume kept.
shoulder=("$work/linear.obj" --compare "$work/kept.obj" --label "linear blending|volume kept")
picture skinning-shoulder 1200x460 "${shoulder[@]}"
picture blendshape-bar 560x400 scenes/blend-bar.toml --frames 0..37 --sheet 3 --columns 3
picture blendshape-pull 400x400 scenes/blend-pull.toml --frames 0..36 --sheet 3 --columns 3
picture blendshape-cylinder 480x400 scenes/blend-cylinder.toml --frames 0..44 --sheet 3 --columns 3 --show colliders
picture skinning-bar 1200x400 "$work/linear-bar.obj" --compare "$work/kept-bar.obj" \
    --label "linear blending|volume kept" --from 0.25,0.25,1

# Contact: a head through a ring, a camel through walls and bars.
ring=(scenes/ring.toml --frames 8..62 --sheet 4 --columns 4 --show colliders --from 0.35,0.3,1)
picture contact-ring 260x420 "${ring[@]}"
picture contact-ragdoll 300x400 scenes/ragdoll.toml --sheet 4 --columns 4 --show colliders \
    --from 0.12,0.12,1

# Meshes: even triangles, and a painted field.
remesh=("$work/horn.ply" --compare "$work/even.ply" --wireframe --from 0.1,0.3,1)
picture remesh 1200x460 "${remesh[@]}"
softness=("$work/cow.glb" --field softness --from 1,0.1,0.5)
picture softness 1200x460 "${softness[@]}"

# Bodies moved from inside.
inside=(--sheet 4 --columns 4)
picture procdef-jellyfish 300x400 scenes/procdef-jellyfish.toml "${inside[@]}" --frames 0..90
picture procdef-worm 400x240 scenes/procdef-worm.toml "${inside[@]}" --from 0.2,0.5,1
picture procdef-heart 300x320 scenes/procdef-heart.toml "${inside[@]}" --frames 24..48
picture procdef-bowel 300x320 scenes/procdef-bowel.toml "${inside[@]}" --frames 48..72
picture procdef-eel 400x240 scenes/procdef-eel.toml "${inside[@]}" --from 0.1,1,0.3
picture procdef-snail 400x240 scenes/procdef-snail.toml "${inside[@]}" --frames 14..30 --field contraction --from 0.3,0.3,1
picture procdef-target 400x300 scenes/procdef-target.toml --sheet 3 --columns 3 --frames 0..44
picture procdef-section 400x320 scenes/procdef-heart.toml --sheet 3 --columns 3 --frames 24..32 \
    --section y=0.02 --field contraction --from 0.1,1,0.3
picture procdef-worms 560x440 scenes/procdef-worms.toml --sheet 2 --columns 2 --frames 0..200 --field contraction
picture procdef-jellyfishes 440x400 scenes/procdef-jellyfishes.toml --sheet 3 --columns 3 --frames 0..240
picture procdef-bar 300x320 scenes/procdef-bar.toml "${inside[@]}" --from 0.2,0.2,1

# Smoke.
smoke smoke-wake 1120x540 wake --rows 120 --columns 320 --dt 0.05
smoke smoke-abc 800x800 abc --rows 250 --columns 200 --dt 0.05
smoke smoke-age 900x720 abc --by age

# The figures of the thesis, each at the end of its motion, and the page that holds them.
page=docs/figures.md
printf '# The figures of the thesis\n\nMade by `scripts/pictures.sh` from `scenes/figures`.\n\n' > "$page"
printf '| | |\n|---|---|\n' >> "$page"
for scene in scenes/figures/*.toml; do
    name=$(basename "$scene" .toml)
    view=(--from 0.3,0.3,1)
    if grep -q '^\[camera\]' "$scene"; then view=(); fi
    case $name in
    # Smoke is seen on dark ground, and needs room.
    7-9) picture "figures-$name" 640x300 "$scene" --frames 40..241 --sheet 3 --columns 1 --backdrop dark ;;
    # What flesh is pushed out of.
    5-7) picture "figures-$name" 320x220 "$scene" --frame "$(last_frame "$scene")" "${view[@]}" --show colliders ;;
    # Cut open: what the tool has left on its way.
    2-7) picture "figures-$name" 320x220 "$scene" --frame "$(last_frame "$scene")" --from 0.8,0.3,1 --section x=0 ;;
    # The triangles are what it is about.
    2-18) picture "figures-$name" 640x300 "$scene" --frame "$(last_frame "$scene")" "${view[@]}" --wireframe ;;
    # How far the tools reach.
    2-19) picture "figures-$name" 640x260 "$scene" --frame "$(last_frame "$scene")" --from 0.2,0.25,1 --show boundaries ;;
    # From before the palm: one sees each finger.
    2-3) picture "figures-$name" 320x220 "$scene" --frame "$(last_frame "$scene")" --from 0.75,0.15,1 ;;
    # What was drawn.
    3-2 | 4-1 | 4-8 | 4-9 | 4-10)
        picture "figures-$name" 320x220 "$scene" --frame "$(last_frame "$scene")" "${view[@]}" --show boundaries,curves ;;
    # One above the other.
    3-8) picture "figures-$name" 320x400 "$scene" --frame "$(last_frame "$scene")" "${view[@]}" ;;
    3-4 | 6-3) picture "figures-$name" 640x300 "$scene" --frame "$(last_frame "$scene")" "${view[@]}" ;;
    # Side by side.
    4-16 | 6-2 | 6-4) picture "figures-$name" 640x220 "$scene" --frame "$(last_frame "$scene")" "${view[@]}" ;;
    7-*) picture "figures-$name" 960x540 "$scene" --frame "$(last_frame "$scene")" --backdrop dark ;;
    *) picture "figures-$name" 320x220 "$scene" --frame "$(last_frame "$scene")" "${view[@]}" ;;
    esac
    words=$(sed -n '/^#/!q; s/^# *//p' "$scene" | tr '\n' ' ')
    printf '| ![%s](pictures/figures-%s.png) | %s|\n' "$name" "$name" "$words" >> "$page"
done

# Figures that are scenes in their own right: number, scene, frame, what is shown beside it, words.
while IFS='|' read -r name scene frame more words; do
    view=(--from 0.6,0.25,1)
    if grep -q '^\[camera\]' "scenes/$scene.toml"; then view=(); fi
    read -ra shown <<< "$more"
    picture "figures-$name" 320x220 "scenes/$scene.toml" --frame "$frame" "${view[@]}" "${shown[@]}"
    printf '| ![%s](pictures/figures-%s.png) | Figure %s: %s `scenes/%s.toml`. |\n' \
        "$name" "$name" "${name/-/.}" "$words" "$scene" >> "$page"
done << 'FIGURES'
5-5|detail|9|--show springs,anchors|level of detail: the near cow has all its masses, the middle one the large ones, the far one none:
5-8|boxer-flesh|22|--show springs,anchors|flesh on top of a skeleton's motion, thirteen masses:
5-9|cow-flesh|22|--show springs,anchors|a cow is moved and its head pulled: both make its flesh swing:
5-10|ragdoll|42|--show colliders|a camel falls through walls and bars:
5-11|ring|34|--show colliders|a head is pulled through a ring, keeps its volume and does not enter it:
5-12|draggers|58|--show springs,anchors|four draggers pull a head to the extreme; let go, it returns:
5-13|jelly|24|--show springs,anchors|a shaken jelly, each knob at a frequency of its own:
5-14|large|14|--show springs,anchors|345,944 triangles, seven segments, ten masses:
FIGURES

# For rustdoc.
inline sculpt 240x220 "A tool pushed into a ball" "${move[@]}"
inline secondary 240x216 "A cow with its masses on springs" "${flesh[@]}"
inline skinning 720x300 "A twisted shoulder, linear and with its volume kept" "${shoulder[@]}"
inline contact 180x250 "A head pulled through a ring" "${ring[@]}"
inline remesh 720x300 "A pulled ball before and after remeshing" "${remesh[@]}"
inline zoo 640x300 "The zoo" scenes/zoo.toml --from 0.1,0.25,1
inline render 640x300 "A field painted on a cow, with its legend" "${softness[@]}"
