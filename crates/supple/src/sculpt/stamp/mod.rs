//! Pushing a closed tool mesh into a shape, which makes room for it (thesis, 2.3.4).
//!
//! # Method
//!
//! The tool goes its way in short steps. Before each of them the triangles are found that it would run
//! into; they are the contact. Everything in the contact follows the tool exactly, and r, the smooth
//! distance to the contact as a surface, fades that motion out. So the region is built anew at every
//! step, may consist of parts that are not connected, and is empty where the tool only passes by.
//!
//! A triangle runs into the tool if the prism it sweeps, seen from the tool, meets the tool's surface:
//! decided exactly ([`mesh::intersect`](crate::mesh::intersect)). The flow around the contact may push
//! other triangles into the tool; those join the contact and the step is taken again. What follows
//! rigidly keeps its distance, so a shape that starts outside the tool never enters it.
//!
//! # Where we differ from the paper
//!
//! - The source takes the distance to collision *points*, which shrinks with every point found. The
//!   integral over the contact's surface does not depend on how fine the mesh is
//!   ([`field::smooth_distance`](crate::field::smooth_distance)).
//! - The inner region is as large as the contact, not a set of points: its triangles follow exactly.
//! - Contacts too far apart to feel each other have a centre of their own.
//!
//! # Limits
//!
//! The shape keeps a gap to the tool of up to one step. The tool does not turn on its way. A contact
//! that is large against the fade makes steep flows, as a wide plate does that presses on water. A tool
//! that meets the shape where it starts is refused (`a_tool_that_starts_inside_is_refused`).
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Vector Field Based Shape Deformations. ACM
//!   Transactions on Graphics (SIGGRAPH), 2006.

mod collider;
mod footprint;

use glam::{DMat3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{
    Problem, check_fade, check_finite, check_point, check_positive, check_share, direction,
};
use super::path::SpaceMap;
use super::tool::{Keep, Mirror};
use super::{Carry, Done};
use crate::Run;
use crate::field::motion::rotation;
use crate::field::{Flow, Phase};
use crate::mesh::measure::Bounds;
use crate::pathline;
use collider::Collider;
use footprint::Footprint;

/// Steps of the tool per width of the fade, if none are given.
const STEPS_PER_FADE: f32 = 16.0;

/// How far ahead of a step contacts are looked for, in steps: what keeps rounding from closing the gap.
const AHEAD: f32 = 0.25;

/// How often a step is taken again because the flow pushed something into the tool.
const REPEATS: u32 = 12;

/// Most steps of one stamp: more is a mistake in the step's length.
const MOST_STEPS: f32 = 100_000.0;

/// Pushes a closed mesh into a shape.
///
/// # Example
///
/// ```
/// use glam::Vec3;
/// use supple::sculpt::{self, Op, Stamp, ToolShape};
/// use supple::{Run, zoo};
///
/// let run = Run::default();
/// let mut ball = zoo::build("ball", &zoo::Size { triangles: Some(1280) }, &run)?.meshes.remove(0);
/// let die = zoo::build("box", &zoo::Size { triangles: Some(12) }, &run)?.meshes.remove(0);
/// let tool = ToolShape::Mesh { positions: die.positions, triangles: die.triangles };
/// let (from, by) = (Vec3::new(0.0, 0.0, 1.4), vec![Vec3::new(0.0, 0.0, -0.3)]);
/// let stamp = Stamp { tool, scale: 0.3, from, by, outer: 0.6, ..Stamp::default() };
/// let params = sculpt::Params::default();
/// sculpt::apply(&mut ball.positions, &ball.triangles, &[Op::Stamp(stamp)], &params, &run)?;
/// assert!(ball.positions.iter().all(|p| p.z < 0.801 || p.x.abs().max(p.y.abs()) > 0.299));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stamp {
    /// The tool: any closed mesh.
    pub tool: ToolShape,
    /// Where the tool's origin is at the start.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    pub from: Vec3,
    /// The way it goes, leg by leg: each a displacement. Empty by default: it stays.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    pub by: Vec<Vec3>,
    /// How much larger the tool is made, about its origin. 1 by default.
    pub scale: f32,
    /// How the tool is turned about the x, then the y, then the z axis through its origin, in degrees.
    /// Not at all by default.
    #[schemars(with = "[f32; 3]", extend("unit" = "deg"))]
    pub rotate: Vec3,
    /// Distance from the contact up to which everything follows the tool. 0 by default: the contact.
    #[schemars(extend("unit" = "m"))]
    pub inner: f32,
    /// Distance from the contact from which nothing moves. 0.5 by default. Small leaves a sharp
    /// footprint and a steep rim, large a soft one.
    #[schemars(extend("unit" = "m"))]
    pub outer: f32,
    /// How far the tool goes before contacts are looked for again; also the largest gap between tool
    /// and shape. A sixteenth of `outer` by default.
    #[schemars(extend("unit" = "m"))]
    pub step: Option<f32>,
    /// Share of the sideways flow that makes room, 0 to 1; see [`Move`](super::Move). 1 by default.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lateral: f32,
    /// Places that stay as they are, even if the tool enters them. None by default.
    pub keep: Vec<Keep>,
    /// Do the same on the other side of a plane, with the tool's mirror image. Not by default.
    pub mirror: Option<Mirror>,
}

impl Default for Stamp {
    fn default() -> Self {
        Self {
            tool: ToolShape::default(),
            from: Vec3::ZERO,
            by: Vec::new(),
            scale: 1.0,
            rotate: Vec3::ZERO,
            inner: 0.0,
            outer: 0.5,
            step: None,
            lateral: 1.0,
            keep: Vec::new(),
            mirror: None,
        }
    }
}

/// Where a stamp's tool comes from.
///
/// A name is only a name: who loads files (a scene, a command) puts the mesh in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolShape {
    /// A mesh.
    Mesh {
        /// Its vertices.
        #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
        positions: Vec<Vec3>,
        /// Its triangles, counter-clockwise seen from outside.
        triangles: Vec<[u32; 3]>,
    },
    /// A file, relative to the scene's folder.
    File(#[schemars(extend("format" = "file"))] String),
    /// A model of the zoo.
    Zoo(#[schemars(extend("format" = "zoo"))] String),
}

impl Default for ToolShape {
    fn default() -> Self {
        Self::Mesh { positions: Vec::new(), triangles: Vec::new() }
    }
}

impl ToolShape {
    /// Its vertices and triangles.
    pub(super) fn loaded(&self) -> Result<(&[Vec3], &[[u32; 3]]), Problem> {
        match self {
            Self::Mesh { positions, triangles } => Ok((positions, triangles)),
            Self::File(name) | Self::Zoo(name) => {
                Err(Problem::ToolNotLoaded { name: name.clone() })
            }
        }
    }

    /// Checks that it is closed, if it is there.
    pub(super) fn check(&self, run: &Run<'_>) -> Result<(), Problem> {
        match self {
            Self::Mesh { positions, triangles } => collider::check(positions, triangles, run),
            Self::File(_) | Self::Zoo(_) => Ok(()),
        }
    }
}

impl Stamp {
    /// Checks what does not depend on the shape, the tool included if it is there.
    pub(super) fn check(&self) -> Result<(), Problem> {
        check_fade(self.inner, self.outer)?;
        check_point("the start of the tool", self.from)?;
        check_positive("the scale of the tool", self.scale)?;
        check_point("the turn of the tool", self.rotate)?;
        check_share("the share of the sideways flow", self.lateral)?;
        for &leg in &self.by {
            check_point("the displacement", leg)?;
        }
        if let Some(step) = self.step {
            check_positive("the step", step)?;
        }
        self.keep.iter().try_for_each(|keep| keep.fade().map(drop))?;
        self.reflection()?;
        self.tool.check(&Run::default())
    }

    pub(super) fn run(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        carry: &Carry<'_>,
        run: &Run<'_>,
    ) -> Result<Done, Problem> {
        self.check()?;
        if triangles.is_empty() {
            return Err(Problem::NeedsTriangles { what: "a tool meets surfaces" });
        }
        let mut tools = Vec::new();
        for reflection in std::iter::once(None).chain(self.reflection()?.map(Some)) {
            let (mut placed, mut faces) = self.placed_tool()?;
            if let Some(plane) = &reflection {
                placed.iter_mut().for_each(|p| *p = plane.point(*p));
                faces.iter_mut().for_each(|face| face.swap(1, 2));
            }
            let collider = Collider::new(&placed, &faces, run);
            let inside = collider.inside(positions, triangles, run)?.len();
            let tool = Moving { collider, reflection };
            if inside > 0 {
                let outside = self.start_outside(&tool, positions);
                return Err(Problem::ToolStartsInside { triangles: inside, outside });
            }
            tools.push(tool);
        }
        Stroke { stamp: self, tools, triangles, carry, run }.go(positions)
    }

    /// A start farther back along the first leg, from where the tool's box does not reach the shape's.
    fn start_outside(&self, tool: &Moving, positions: &[Vec3]) -> Vec3 {
        let back = self.by.iter().find_map(|leg| (-*leg).try_normalize()).unwrap_or(Vec3::Z);
        let (seen, bounds) = (tool.by(back), tool.collider.bounds());
        let shape = Bounds::of(positions).unwrap_or(bounds);
        let (ahead, behind) = (shape.max - bounds.min, bounds.max - shape.min);
        let way =
            Vec3::select(seen.cmpgt(Vec3::ZERO), ahead, behind) / seen.abs().max(Vec3::splat(1e-3));
        self.from + (1.0 + AHEAD) * way.min_element() * back
    }

    /// The plane of the mirror, if there is one.
    fn reflection(&self) -> Result<Option<Reflection>, Problem> {
        let Some(Mirror { origin, normal }) = self.mirror else { return Ok(None) };
        check_point("the mirror's origin", origin)?;
        Ok(Some(Reflection { origin, normal: direction("the mirror's normal", normal)? }))
    }

    /// The tool's mesh where it starts.
    fn placed_tool(&self) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), Problem> {
        let (positions, triangles) = self.tool.loaded()?;
        let turn = self.turn();
        let (scale, from) = (f64::from(self.scale), self.from.as_dvec3());
        let place = |p: &Vec3| (from + turn * (scale * p.as_dvec3())).as_vec3();
        Ok((positions.iter().map(place).collect(), triangles.to_vec()))
    }

    fn turn(&self) -> DMat3 {
        let [x, y, z] = self.rotate.as_dvec3().to_array().map(f64::to_radians);
        rotation(glam::DVec3::Z, z) * rotation(glam::DVec3::Y, y) * rotation(glam::DVec3::X, x)
    }

    /// Length of a step, for a tool of some thickness.
    fn step(&self, thickness: f32) -> Result<f32, Problem> {
        let step = self.step.unwrap_or(self.outer / STEPS_PER_FADE).min(0.25 * thickness);
        let steps = self.by.iter().map(|leg| leg.length()).sum::<f32>() / step;
        if steps > MOST_STEPS {
            return Err(Problem::TooManySteps { steps });
        }
        check_finite("the way of the tool", steps)?;
        Ok(step)
    }
}

/// The plane that a mirror image is seen in.
#[derive(Clone, Copy, Debug)]
struct Reflection {
    origin: Vec3,
    normal: Vec3,
}

impl Reflection {
    fn point(&self, p: Vec3) -> Vec3 {
        self.origin + self.vector(p - self.origin)
    }

    fn vector(&self, v: Vec3) -> Vec3 {
        v - 2.0 * self.normal.dot(v) * self.normal
    }
}

/// The tool, or its mirror image.
struct Moving {
    collider: Collider,
    reflection: Option<Reflection>,
}

impl Moving {
    /// A displacement of the stamp, as this one makes it.
    fn by(&self, displacement: Vec3) -> Vec3 {
        self.reflection.map_or(displacement, |plane| plane.vector(displacement))
    }
}

/// A stamp on its way.
struct Stroke<'a> {
    stamp: &'a Stamp,
    tools: Vec<Moving>,
    triangles: &'a [[u32; 3]],
    carry: &'a Carry<'a>,
    run: &'a Run<'a>,
}

/// What one step did.
#[derive(Default)]
struct Pushed {
    phases: Vec<Phase>,
    report: pathline::Report,
    /// Triangles that ended in the tool all the same.
    entered: usize,
}

impl Stroke<'_> {
    fn go(&self, positions: &mut [Vec3]) -> Result<Done, Problem> {
        let thickness = self.tools.iter().map(|tool| tool.collider.thickness());
        let step = self.stamp.step(thickness.fold(f32::INFINITY, f32::min))?;
        let (mut flow, mut report, mut entered) = (Flow::default(), pathline::Report::default(), 0);
        let mut start = Vec3::ZERO;
        for &leg in &self.stamp.by {
            let length = leg.length();
            let count = (length / step).ceil() as u32;
            let at = |k: u32| start + leg * (k as f32 * step / length).min(1.0);
            for k in 0..count {
                self.run.check()?;
                let pushed = self.push(positions, at(k), at(k + 1))?;
                flow.phases.extend(pushed.phases);
                report = report.and(pushed.report);
                entered += pushed.entered;
                self.run.report(u64::from(k) + 1, u64::from(count));
            }
            start += leg;
        }
        Ok(Done { map: SpaceMap::Flow(flow), taken: report, warnings: warnings(entered) })
    }

    /// One step of the tools, from one displacement to the next.
    fn push(&self, positions: &mut [Vec3], from: Vec3, to: Vec3) -> Result<Pushed, Problem> {
        let mut contacts = Vec::with_capacity(self.tools.len());
        for tool in &self.tools {
            let way = [tool.by(from), (1.0 + AHEAD) * tool.by(to - from)];
            contacts.push(tool.collider.swept(positions, self.triangles, way, self.run)?);
        }
        if contacts.iter().all(Vec::is_empty) {
            return Ok(Pushed::default());
        }
        let before = positions.to_vec();
        for repeat in 0..=REPEATS {
            let flow = Flow { phases: self.phases(&before, &contacts, to - from)? };
            let report = (self.carry)(&flow, positions)?;
            let entered = self.entered(positions, &contacts, to)?;
            let count = entered.iter().map(Vec::len).sum();
            if count == 0 || repeat == REPEATS {
                return Ok(Pushed { phases: flow.phases, report, entered: count });
            }
            positions.copy_from_slice(&before);
            for (contact, more) in contacts.iter_mut().zip(&entered) {
                merge(contact, more);
            }
        }
        Ok(Pushed::default())
    }

    /// The motion of the contacts. Those of one tool do not reach each other; those of a tool and its
    /// mirror image may, and then move at the same time.
    fn phases(
        &self,
        positions: &[Vec3],
        contacts: &[Vec<u32>],
        shift: Vec3,
    ) -> Result<Vec<Phase>, Problem> {
        let mut phases: Vec<Phase> = Vec::new();
        for (tool, contact) in self.tools.iter().zip(contacts) {
            let footprint = Footprint::new(self.stamp.outer, positions, self.triangles, contact);
            let own = footprint.phases(self.stamp, tool.by(shift))?;
            match (phases.first_mut(), tool.reflection) {
                (Some(first), Some(_)) => {
                    first.fields.extend(own.into_iter().flat_map(|phase| phase.fields));
                }
                _ if self.tools.len() > 1 => {
                    let fields = own.into_iter().flat_map(|phase| phase.fields).collect();
                    phases.push(Phase { fields, duration: 1.0 });
                }
                _ => phases = own,
            }
        }
        phases.retain(|phase| !phase.fields.is_empty());
        Ok(phases)
    }

    /// Triangles that each tool meets beside those in contact with it.
    fn entered(
        &self,
        positions: &[Vec3],
        contacts: &[Vec<u32>],
        to: Vec3,
    ) -> Result<Vec<Vec<u32>>, Problem> {
        let met = |(tool, contact): (&Moving, &Vec<u32>)| {
            tool.collider.met(positions, self.triangles, tool.by(to), contact, self.run)
        };
        Ok(self.tools.iter().zip(contacts).map(met).collect::<Result<_, _>>()?)
    }
}

/// What the caller should know.
fn warnings(entered: usize) -> Vec<String> {
    let what = || {
        format!(
            "the tool entered the shape at {entered} triangles, summed over its steps: give it a shorter \
             step, or keep less of the shape in place"
        )
    };
    (entered > 0).then(what).into_iter().collect()
}

/// Adds to a sorted list what it does not hold yet.
fn merge(list: &mut Vec<u32>, more: &[u32]) {
    list.extend_from_slice(more);
    list.sort_unstable();
    list.dedup();
}
