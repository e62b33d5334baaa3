//! The built-in scenes, and how their pictures are taken.

use std::ops::Range;

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
    /// Size of one moment, in pixels.
    pub(super) size: [u32; 2],
    /// The frames that the moments are spread over.
    pub(super) frames: Range<u32>,
}

const WIDE: [u32; 2] = [800, 540];
const TALL: [u32; 2] = [480, 640];

/// The whole take.
const ALL: Range<u32> = 0..u32::MAX;

/// A scene of the project by the name of its file, and how its picture is taken.
macro_rules! demo {
    ($part:literal, $name:literal, $size:ident, $frames:expr, [$($show:ident),*], $what:literal) => {
        Demo {
            name: $name,
            part: $part,
            what: $what,
            document: include_str!(concat!("../../../../../scenes/", $name, ".toml")),
            show: &[$(Show::$show),*],
            size: $size,
            frames: $frames,
        }
    };
}

#[rustfmt::skip]
pub(super) const DEMOS: &[Demo] = &[
    demo!("Sculpt", "push", WIDE, ALL, [Boundaries],
        "A tool is pushed into a ball: all in the red region follows it, nothing outside the \
         green one moves, and the volume stays."),
    demo!("Sculpt", "stamp", WIDE, ALL, [Boundaries],
        "A ring is pressed into a ball, which keeps its print and its volume."),
    demo!("Sculpt", "twist", WIDE, ALL, [],
        "A bar is twisted by half a turn, exactly, without integration."),
    demo!("Sculpt", "bend", WIDE, ALL, [],
        "A bar is bent by a right angle, its volume restored to rounding."),
    demo!("Skinning", "three-bone-bar", WIDE, ALL, [],
        "A bar is bent at two joints: in front its volume is exactly kept, behind it is lost."),
    demo!("Skinning", "muscle-arm", WIDE, ALL, [],
        "Painted weights of both signs make the biceps bulge and the crook fold."),
    demo!("Skinning", "twisted-shoulder", WIDE, ALL, [],
        "An arm is twisted at its shoulder, without the candy wrapper."),
    demo!("Blendshapes", "blend-bar", WIDE, 0..37, [],
        "A bar is blended to a bent one: left as a network of springs, right along straight lines, \
         which shrink it."),
    demo!("Blendshapes", "blend-cylinder", WIDE, 0..44, [Colliders],
        "A bar is blended into a rod: it bends as far as it can, slides along it and never enters it."),
    demo!("Secondary motion", "boxer-flesh", TALL, 10..33, [Springs, Anchors],
        "Thirteen masses on springs put flesh on a boxer's punches."),
    demo!("Secondary motion", "cow-flesh", WIDE, 14..38, [Springs, Anchors],
        "A cow is moved and pulled by hand; eight masses make it jiggle."),
    demo!("Secondary motion", "jelly", WIDE, ALL, [],
        "A shaken jelly, its knobs jiggling at their own frequencies."),
    demo!("Secondary motion", "draggers", WIDE, ALL, [],
        "Hands pull a head to the extreme and let it go."),
    demo!("Contact", "ring", TALL, 8..62, [Colliders],
        "A head is pulled through a ring that is too small for it: it gives way, keeps its volume \
         and never enters the ring."),
    demo!("Contact", "ragdoll", TALL, ALL, [Colliders],
        "A camel falls through walls and bars on elastic joints."),
    demo!("Contact", "meet", WIDE, 4..20, [],
        "Two soft balls run into each other: both flatten, neither enters the other."),
    demo!("Contact", "fist", WIDE, ALL, [],
        "A hand closes: its fingers touch the palm and both give way."),
    demo!("Smoke", "smoke-wake", WIDE, 36..96, [],
        "Smoke behind a cylinder: a streak surface, drawn the thinner the more it is stretched."),
    demo!("Smoke", "smoke-abc", TALL, 24..72, [],
        "Smoke in the ABC flow, which is steady and chaotic."),
    demo!("Rigs and paths", "boxer", WIDE, ALL, [Skeleton],
        "Two boxers: dual quaternions on the left, linear blending on the right."),
    demo!("Rigs and paths", "camel", WIDE, ALL, [],
        "A walk cycle carried forward by a track."),
    demo!("Rigs and paths", "cow", WIDE, ALL, [],
        "A recorded path, trailed on a damped spring solved in closed form."),
    demo!("Procdef", "procdef-jellyfish", TALL, 0..96, [],
        "A jellyfish swims: rings contract, late towards the rim, and the water pushes back."),
    demo!("Procdef", "procdef-worm", WIDE, ALL, [],
        "A worm crawls: waves of contraction, and skin that slides forward more easily than back."),
    demo!("Procdef", "procdef-heart", WIDE, 0..13, [],
        "A ventricle beats: spiral fibres make it shorten, thicken and twist."),
];
