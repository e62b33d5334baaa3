#!/usr/bin/env bash
# Everything a change must pass: format, lints, documentation, tests. CI runs exactly this.
#
# On a fresh Debian or Ubuntu machine it first installs the system packages the tests need, if they
# are missing and it may (root, or sudo without a password).
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

install_missing() {
    local missing=()
    command -v cc >/dev/null || missing+=(build-essential)
    # A software Vulkan driver, for pictures on machines without a GPU.
    compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || missing+=(mesa-vulkan-drivers)
    ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || missing+=(libvulkan1)
    [ ${#missing[@]} -eq 0 ] && return
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            echo "missing packages: ${missing[*]}; install them and run this again" >&2
            exit 1
        fi
        root=(sudo)
    fi
    if ! command -v apt-get >/dev/null; then
        echo "missing: ${missing[*]} (Debian names); install them and run this again" >&2
        exit 1
    fi
    say "installing ${missing[*]}"
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq "${missing[@]}"
}

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust 1.92 or newer first" >&2
    exit 1
fi
install_missing

# A fresh clone is built once: what cargo would store for the next build is half the disk.
[ -d "${CARGO_TARGET_DIR:-target}/debug/incremental" ] || export CARGO_INCREMENTAL=0

say "format"
cargo fmt --all --check

say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

say "without rigid bodies"
cargo check -p supple --no-default-features --locked

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

say "tests"
cargo test --workspace --locked

say "all good"
