#!/usr/bin/env bash
# Mutation runs on the mathematics: which changes of `field` and `pathline` would no test of theirs notice?
#
# scripts/mutants.sh                                         all mutants (hours)
# scripts/mutants.sh --shard 0/20 --sharding round-robin     every twentieth of them
# scripts/mutants.sh --file 'src/field/blend.rs'             those of one file
#
# Both need little of the library: they are put into a crate of their own, which builds in seconds where the whole
# takes a minute a mutant. Options go to `cargo mutants` (cargo install cargo-mutants --locked).
# MUTANTS names a folder that is kept, with its build and the results in mutants.out; after a run that was killed its
# build may be that of a mutant: remove the folder.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
if [ -n "${MUTANTS:-}" ]; then
    work=$MUTANTS
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
source=crates/supple/src
rm -rf "$work/src"
mkdir -p "$work/src/mesh"
cp -r "$source/field" "$source/pathline" "$source/lanes.rs" "$source/lengths.rs" "$source/run.rs" "$work/src"
cp "$source/mesh/measure.rs" "$work/src/mesh"
# What lies beyond a closed mesh is tested with shapes of the zoo, which is not here.
sed -i '/^#\[cfg(test)\]/,$d' "$work/src/field/solid.rs"
cat > "$work/src/lib.rs" << 'RUST'
//! Fields and path lines alone.
#![allow(dead_code, missing_docs)]
pub mod field;
mod lanes;
mod lengths;
pub mod mesh {
    pub mod measure;
}
pub mod pathline;
pub mod run;
pub use run::Run;
RUST
{
    printf '[package]\nname = "mathematics"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n'
    for name in bytemuck glam libm pulp rayon robust serde thiserror; do
        printf '%s.workspace = true\n' "$name"
    done
    printf '\n[dev-dependencies]\nproptest.workspace = true\nserde_json.workspace = true\n'
    printf '\n[profile.dev]\nopt-level = 1\ndebug = false\n\n[profile.dev.package."*"]\nopt-level = 3\n\n'
    printf '[workspace]\n\n'
    awk '/^\[workspace.dependencies\]/ { on = 1 } /^\[/ && !/^\[workspace.dependencies\]/ { on = 0 } on' Cargo.toml |
        sed '/path *=/d'
} > "$work/Cargo.toml"
cp Cargo.lock "$work"
cd "$work"
cargo mutants --in-place --no-shuffle --cap-lints true --exclude src/lanes.rs --exclude src/lengths.rs \
    --exclude src/run.rs --exclude src/mesh/measure.rs --exclude src/field/solid.rs "$@" -- --lib || true
echo "survivors: $(wc -l < mutants.out/missed.txt), caught: $(wc -l < mutants.out/caught.txt)"
cat mutants.out/missed.txt
