//! The built-in scenes, and how their pictures are taken.

use crate::commands::render::Show;

/// A built-in scene.
pub(super) struct Demo {
    pub(super) name: &'static str,
    /// Which part of the toolkit it shows.
    pub(super) part: &'static str,
    /// What there is to see.
    pub(super) what: &'static str,
    pub(super) document: &'static str,
    /// What its picture shows besides the bodies.
    pub(super) show: &'static [Show],
    /// How much the bodies cover.
    pub(super) opacity: f32,
    /// Size of one moment, in pixels.
    pub(super) size: [u32; 2],
}

/// A scene of the project, by its file.
macro_rules! scene {
    ($name:literal) => {
        include_str!(concat!("../../../../../scenes/", $name, ".toml"))
    };
}

const WIDE: [u32; 2] = [800, 540];
const TALL: [u32; 2] = [480, 640];

/// A scene whose bodies speak for themselves.
const fn plain(
    part: &'static str,
    name: &'static str,
    what: &'static str,
    document: &'static str,
) -> Demo {
    Demo { name, part, what, document, show: &[], opacity: 1.0, size: WIDE }
}

/// A scene that shows how its bodies are moved.
const fn with(show: &'static [Show], opacity: f32, size: [u32; 2], demo: Demo) -> Demo {
    Demo { show, opacity, size, ..demo }
}

const SCULPT: &str = "Sculpt";
const SECONDARY: &str = "Secondary motion";
const SKINNING: &str = "Skinning";
const CONTACT: &str = "Contact";
const RIG: &str = "Rigs and paths";

pub(super) const DEMOS: &[Demo] = &[
    with(
        &[Show::Boundaries],
        1.0,
        WIDE,
        plain(
            SCULPT,
            "push",
            "A tool is pushed into a ball: all in the red region follows it, nothing outside the \
             green one moves, and the volume stays.",
            scene!("push"),
        ),
    ),
    with(
        &[Show::Boundaries],
        1.0,
        WIDE,
        plain(
            SCULPT,
            "stamp",
            "A ring is pressed into a ball, which keeps its print and its volume.",
            scene!("stamp"),
        ),
    ),
    plain(
        SCULPT,
        "twist",
        "A bar is twisted by half a turn, exactly, without integration.",
        scene!("twist"),
    ),
    plain(
        SCULPT,
        "bend",
        "A bar is bent by a right angle, its volume restored to rounding.",
        scene!("bend"),
    ),
    plain(
        SKINNING,
        "three-bone-bar",
        "A bar is bent at two joints: in front its volume is exactly kept, behind it is lost.",
        scene!("three-bone-bar"),
    ),
    plain(
        SKINNING,
        "muscle-arm",
        "Painted weights of both signs make the biceps bulge and the crook fold.",
        scene!("muscle-arm"),
    ),
    plain(
        SKINNING,
        "twisted-shoulder",
        "An arm is twisted at its shoulder, without the candy wrapper.",
        scene!("twisted-shoulder"),
    ),
    with(
        &[Show::Springs, Show::Anchors],
        0.55,
        TALL,
        plain(
            SECONDARY,
            "boxer-flesh",
            "Thirteen masses on springs put flesh on a boxer's punches.",
            scene!("boxer-flesh"),
        ),
    ),
    with(
        &[Show::Springs, Show::Anchors],
        0.55,
        WIDE,
        plain(
            SECONDARY,
            "cow-flesh",
            "A cow is moved and pulled by hand; eight masses make it jiggle.",
            scene!("cow-flesh"),
        ),
    ),
    plain(
        SECONDARY,
        "jelly",
        "A shaken jelly, its knobs jiggling at their own frequencies.",
        scene!("jelly"),
    ),
    plain(
        SECONDARY,
        "draggers",
        "Hands pull a head to the extreme and let it go.",
        scene!("draggers"),
    ),
    with(
        &[Show::Colliders],
        1.0,
        TALL,
        plain(
            CONTACT,
            "ring",
            "A head is pulled through a ring that is too small for it: it gives way, keeps its volume \
             and never enters the ring.",
            scene!("ring"),
        ),
    ),
    with(
        &[Show::Colliders],
        1.0,
        TALL,
        plain(
            CONTACT,
            "ragdoll",
            "A camel falls through walls and bars on elastic joints.",
            scene!("ragdoll"),
        ),
    ),
    plain(
        CONTACT,
        "meet",
        "Two soft balls run into each other: both flatten, neither enters the other.",
        scene!("meet"),
    ),
    plain(
        CONTACT,
        "fist",
        "A hand closes: its fingers touch the palm and both give way.",
        scene!("fist"),
    ),
    with(
        &[Show::Skeleton],
        0.55,
        WIDE,
        plain(
            RIG,
            "boxer",
            "Two boxers: dual quaternions on the left, linear blending on the right.",
            scene!("boxer"),
        ),
    ),
    plain(RIG, "camel", "A walk cycle carried forward by a track.", scene!("camel")),
    plain(
        RIG,
        "cow",
        "A recorded path, trailed on a damped spring solved in closed form.",
        scene!("cow"),
    ),
];
