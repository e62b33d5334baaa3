//! Where everything meets: colliders, and the bodies that give way to them and to each other.

use glam::{DAffine3, DMat4, Mat4, Quat, Vec3};

use super::cast::Drive;
use super::open::Loan;
use super::{Cast, FrameError, Load, PlayerError, State, Step};
use crate::Run;
use crate::contact::collider::{Collider, Isometry, Solid};
use crate::contact::flesh::parting::{Skin, Unparted};
use crate::contact::flesh::{
    Contacts, Meet, Obstacle, Origin, Parting, PosedCollider, PosedSegment, Pressure, Report,
    Segment, Segments, resolve,
};
use crate::contact::{self, Party};
use crate::modifier::{Halt, SUBSTEPS};
use crate::scene::{ColliderEntry, Contact, Folder, Motion, Repeat, RigidPath, Scene};

/// All that can touch.
#[derive(Debug)]
pub(super) struct Arena {
    colliders: Vec<Collider>,
    tracks: Vec<ColliderMotion>,
    bodies: Vec<Option<ContactBody>>,
    /// For each body that a modifier lends, how it behaves in contact.
    lent: Vec<Option<Contact>>,
    /// For each pair of segments, in their order, whether they may meet.
    may_meet: Vec<Vec<bool>>,
}

/// How a collider moves.
#[derive(Debug)]
struct ColliderMotion {
    placement: DAffine3,
    path: Option<(RigidPath, Repeat)>,
    /// Body and joint it rides on.
    rides: Option<(usize, usize)>,
}

/// A body that gives way.
#[derive(Debug)]
struct ContactBody {
    contact: Contact,
    segments: Segments,
    /// The hull of each segment in the placed rest pose.
    hulls: Vec<Option<Solid>>,
    /// From bind to the placed rest pose, for each joint.
    rest: Vec<Mat4>,
    /// Its skin, if it may meet itself.
    skin: Skin,
}

impl Arena {
    pub(super) fn new(
        scene: &Scene,
        cast: &[Cast],
        folder: &Folder<'_>,
        load: Load<'_>,
    ) -> Result<Self, PlayerError> {
        let mut colliders = Vec::new();
        let mut tracks = Vec::new();
        for entry in &scene.colliders {
            colliders.push(build(entry, load)?);
            tracks.push(ColliderMotion::new(entry, cast, folder)?);
        }
        let bodies: Vec<Option<ContactBody>> = cast.iter().map(ContactBody::new).collect();
        let may_meet = pairs(&bodies);
        let lent = cast.iter().map(|c| c.actor.contact.filter(|_| c.lends())).collect();
        Ok(Self { colliders, tracks, bodies, lent, may_meet })
    }

    /// Where the colliders were before a tick, for bodies that modifiers lend; empty if there are none.
    pub(super) fn places_before(&self, cast: &[Cast], state: &State, secs: f64) -> Vec<Isometry> {
        match self.lent.iter().any(Option::is_some) {
            true => self.places(cast, state, secs),
            false => Vec::new(),
        }
    }

    /// Takes apart what modifiers lend: from each other, from the ground, from colliders, which were and are at places.
    pub(super) fn part(
        &self,
        stepped: &mut [(Vec<Mat4>, Vec<Loan>)],
        (before, now): (&[Isometry], &[Isometry]),
        run: &Run<'_>,
    ) {
        let obstacles: Vec<contact::Obstacle<'_>> = (0..)
            .zip(self.colliders.iter().zip(before.iter().zip(now)))
            .map(|(number, (collider, (&before, &now)))| contact::Obstacle {
                number,
                parts: &collider.parts,
                before,
                now,
            })
            .collect();
        let mut parties: Vec<Party<'_>> = Vec::new();
        for ((_, loans), contact) in stepped.iter_mut().zip(&self.lent) {
            parties.extend(loans.iter_mut().map(|loan| Party {
                lent: &mut loan.lent,
                others: contact.is_some_and(|c| c.others),
                obstacles: contact.is_some(),
            }));
        }
        contact::resolve(&mut parties, &obstacles, run);
    }

    pub(super) fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// True if nothing can ever touch.
    fn is_empty(&self) -> bool {
        self.bodies.iter().all(Option::is_none)
            || (self.colliders.is_empty() && self.may_meet.iter().flatten().all(|m| !m))
    }

    /// Where the colliders are.
    pub(super) fn places(&self, cast: &[Cast], state: &State, secs: f64) -> Vec<Isometry> {
        let place = |track: &ColliderMotion| {
            if let Some((body, joint)) = track.rides {
                let carried = cast[body].carried(&state.bodies[body], secs);
                let rest = cast[body].rest_matrices();
                let moved = carried.joints[joint].as_dmat4() * rest[joint].as_dmat4().inverse();
                return Isometry::of(&(DAffine3::from_mat4(moved) * track.placement));
            }
            let Some((path, repeat)) = &track.path else { return Isometry::of(&track.placement) };
            let (first, last) = path.span();
            Isometry::of(&(track.placement * path.affine(repeat.wrap(secs, first, last))))
        };
        self.tracks.iter().map(place).collect()
    }

    /// Moves the joints of what moves them by itself, in finer steps, with contact before each.
    pub(super) fn drive(
        &self,
        cast: &[Cast],
        state: &mut State,
        step: &Step,
    ) -> Result<(), FrameError> {
        let Step { secs, dt_secs, tick, .. } = *step;
        let bodies = cast.iter().zip(&state.bodies).enumerate();
        let begun = bodies.filter_map(|(i, (c, b))| Some((i, c.begin_tick(b, dt_secs)?)));
        let mut driven: Vec<_> = begun.collect();
        if driven.is_empty() {
            return Ok(());
        }
        for k in 1..=SUBSTEPS {
            let now = secs - dt_secs * f64::from(SUBSTEPS - k) / f64::from(SUBSTEPS);
            let bodies = cast.iter().zip(&state.bodies);
            let joints: Vec<Vec<Mat4>> = bodies.map(|(c, b)| c.carried(b, now).joints).collect();
            let mut pressures: Vec<Vec<Pressure>> = vec![Vec::new(); cast.len()];
            for pressure in self.touch(cast, state, &joints, now) {
                pressures[pressure.body as usize].push(pressure);
            }
            for (i, (modifier, substeps)) in &mut driven {
                let slot = &mut state.bodies[*i].slots[*modifier];
                match substeps.substep(now, &pressures[*i], &mut slot.memory) {
                    Err(Halt::NotFinite) => slot.frozen = Some(tick),
                    done => done.map_err(|halt| cast[*i].failed(*modifier, halt))?,
                }
            }
            driven.retain(|(i, (modifier, _))| state.bodies[*i].slots[*modifier].frozen.is_none());
        }
        Ok(())
    }

    /// Follows the contacts to where the joints are now; returns what presses.
    pub(super) fn touch(
        &self,
        cast: &[Cast],
        state: &mut State,
        joints: &[Vec<Mat4>],
        secs: f64,
    ) -> Vec<Pressure> {
        if self.is_empty() {
            return Vec::new();
        }
        let places = self.places(cast, state, secs);
        let colliders: Vec<PosedCollider<'_>> = self
            .colliders
            .iter()
            .zip(places)
            .map(|(collider, place)| PosedCollider { collider, place })
            .collect();
        let posed: Vec<PosedSegment<'_>> = (0..)
            .zip(self.bodies.iter().zip(joints))
            .flat_map(|(i, (soft, joints))| soft.iter().flat_map(move |s| s.posed(i, joints)))
            .collect();
        let may_meet = |i: usize, j: usize| self.may_meet[i][j];
        state.contacts.advance(&posed, &colliders, &may_meet)
    }

    /// Moves the vertices of a body out of all it touches.
    pub(super) fn give_way(
        &self,
        body: usize,
        contacts: &Contacts,
        places: &[Isometry],
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Report {
        let Some(soft) = &self.bodies[body] else { return Report::default() };
        let meets = (0..).zip(&contacts.meets);
        let (own, others): (Vec<_>, Vec<_>) = meets
            .filter(|(_, m)| m.above[0] == body as u32 || m.below[0] == body as u32)
            .partition(|(_, m)| m.is_within_one_body());
        let planes: Vec<Side> = others
            .iter()
            .flat_map(|(number, meet)| sides(*number, meet, body as u32, &soft.segments.all))
            .collect();
        let mut near: Vec<Vec<Obstacle<'_>>> = vec![Vec::new(); soft.segments.all.len()];
        for touch in contacts.touches.iter().filter(|t| t.body as usize == body) {
            let collider = &self.colliders[touch.collider as usize];
            let segment = touch.segment as usize;
            near[segment].push(Obstacle {
                origin: Origin::Part(touch.collider, touch.part),
                solid: &collider.parts[touch.part as usize],
                place: places[touch.collider as usize],
                size: collider.size.unwrap_or(2.0 * soft.segments.all[segment].radius),
                way_out: Some(touch.normal),
                solitary: collider.parts.len() == 1,
            });
        }
        let softness = soft.contact.softness as f32;
        for side in &planes {
            near[side.segment].push(side.obstacle());
        }
        let before = soft.part_itself(&own, positions, run);
        resolve(positions, &soft.segments, &near, softness, run).after(&before)
    }
}

/// The block that one segment of a meeting must not enter: the other side of the plane, near the contact.
struct Side {
    meet: u32,
    segment: usize,
    solid: Solid,
    place: Isometry,
    normal: Vec3,
    size: f32,
}

impl Side {
    fn obstacle(&self) -> Obstacle<'_> {
        Obstacle {
            origin: Origin::Plane(self.meet),
            solid: &self.solid,
            place: self.place,
            size: self.size,
            way_out: Some(self.normal),
            solitary: true,
        }
    }
}

/// The blocks that a body must not enter. Each reaches beyond the segment that touches it: where a block
/// ends, what it pushes flows around its edge, and a ball would get a ridge there.
fn sides(number: u32, meet: &Meet, body: u32, segments: &[Segment]) -> Vec<Side> {
    let of = |segment: u32, normal: Vec3| {
        let across = meet.radius.max(2.0 * segments[segment as usize].radius);
        side(number, meet, segment as usize, normal, across)
    };
    let above = (meet.above[0] == body).then(|| of(meet.above[1], meet.normal));
    let below = (meet.below[0] == body).then(|| of(meet.below[1], -meet.normal));
    above.into_iter().chain(below).collect()
}

/// The block behind the plane of a meeting that a segment must not enter.
fn side(meet: u32, plane: &Meet, segment: usize, normal: Vec3, across: f32) -> Side {
    let thick = plane.depth + 0.5 * plane.radius;
    Side {
        meet,
        segment,
        solid: Solid::cuboid(Vec3::new(across, thick, across)),
        place: Isometry {
            rotation: Quat::from_rotation_arc(Vec3::Y, normal),
            translation: plane.point - thick * normal,
        },
        normal,
        size: 2.0 * plane.radius,
    }
}

impl ColliderMotion {
    fn new(entry: &ColliderEntry, cast: &[Cast], folder: &Folder<'_>) -> Result<Self, PlayerError> {
        // The scale is in the shape.
        let mut standing = entry.placement;
        standing.scale = [1.0; 3];
        let path = match &entry.motion {
            Motion::Path(recording) => Some(Drive::path(&entry.name, recording, folder)?),
            _ => None,
        };
        let rides = match &entry.rides {
            None => None,
            Some(ride) => {
                let body = cast.iter().position(|c| c.actor.name == ride.asset);
                let joints = |b: usize| {
                    let body = &cast[b].body;
                    (0..body.joints.len()).map(|j| body.joint_name(j)).collect::<Vec<_>>()
                };
                let find = |b: usize| match &ride.joint {
                    None => Some((b, 0)),
                    Some(joint) => joints(b).iter().position(|n| n == joint).map(|j| (b, j)),
                };
                let unknown = || PlayerError::Ride {
                    collider: entry.name.clone(),
                    asset: ride.asset.clone(),
                    joint: ride.joint.clone().unwrap_or_default(),
                    known: body.map(|b| joints(b).join(", ")).unwrap_or_default(),
                };
                Some(body.and_then(find).ok_or_else(unknown)?)
            }
        };
        Ok(Self { placement: standing.affine(), path, rides })
    }
}

fn build(entry: &ColliderEntry, load: Load<'_>) -> Result<Collider, PlayerError> {
    let [x, y, z] = entry.placement.scale;
    let scale = Vec3::new(x as f32, y as f32, z as f32);
    let mesh = match &entry.source {
        None => None,
        Some(source) => {
            let asset = entry.name.clone();
            let loaded = load(source)
                .map_err(|source| PlayerError::Load { asset: asset.clone(), source })?;
            let body = crate::rig::Body::from_asset(&loaded)
                .map_err(|source| PlayerError::Body { asset, source })?;
            Some(body.rest_mesh(&Run::default()))
        }
    };
    Ok(Collider::new(&entry.name, &entry.shape, mesh.as_ref(), scale)?)
}

impl ContactBody {
    fn new(cast: &Cast) -> Option<Self> {
        if cast.lends() {
            return None;
        }
        let contact = cast.actor.contact.or_else(|| cast.is_driven().then(Contact::default))?;
        let rest = cast.rest_matrices();
        let segments = Segments::new(&cast.body, &rest);
        let hulls = segments.all.iter().map(|s| hull_of(&s.posed(&rest[s.joint]))).collect();
        let skin = if contact.itself { Skin::new(&cast.body, &segments) } else { Skin::default() };
        Some(Self { contact, segments, hulls, rest, skin })
    }

    /// Takes its own segments apart that meet.
    fn part_itself(&self, meets: &[(u32, &Meet)], positions: &mut [Vec3], run: &Run<'_>) -> Report {
        let mut report = Report::default();
        if meets.is_empty() {
            return report;
        }
        let (softness, whole) = (self.contact.softness as f32, self.skin.volume(positions, run));
        for (number, meet) in meets {
            let Some(crossing) = self.skin.crossing(meet, positions, run) else { continue };
            let ring = &crossing.ring;
            let [above, below] =
                [(ring.above, ring.normal), (ring.below, -ring.normal)].map(|(segment, normal)| {
                    side(*number, ring, segment[1] as usize, normal, ring.radius)
                });
            let parting = Parting {
                segments: [above.segment, below.segment],
                sides: [above.obstacle(), below.obstacle()],
            };
            let pair = (&crossing, &parting);
            match self.skin.part(positions, &self.segments, pair, (softness, whole), run) {
                Ok(parted) => report = parted.after(&report),
                Err(Unparted) => report.unparted += 1,
            }
        }
        report
    }

    fn posed<'a>(
        &'a self,
        body: u32,
        joints: &'a [Mat4],
    ) -> impl Iterator<Item = PosedSegment<'a>> {
        let meets = self.contact.others || self.contact.itself;
        let posed = move |(number, (segment, hull)): (u32, (&'a Segment, &'a Option<Solid>))| {
            let joint = segment.joint;
            let place = || {
                let moved = joints[joint].as_dmat4() * self.rest[joint].as_dmat4().inverse();
                Isometry::of(&affine(moved))
            };
            PosedSegment {
                body,
                number,
                segment,
                proxies: segment.posed(&joints[joint]),
                hull: hull.as_ref().filter(|_| meets).map(|h| (h, place())),
            }
        };
        (0..).zip(self.segments.all.iter().zip(&self.hulls)).map(posed)
    }
}

fn affine(m: DMat4) -> DAffine3 {
    DAffine3::from_mat4(m)
}

#[cfg(feature = "rigid")]
fn hull_of(points: &[Vec3]) -> Option<Solid> {
    contact::collider::convex::hull(points)
}

#[cfg(not(feature = "rigid"))]
fn hull_of(_points: &[Vec3]) -> Option<Solid> {
    None
}

/// Which segments may meet: those of bodies that collide with others, and those of one body that do
/// not overlap at rest.
fn pairs(bodies: &[Option<ContactBody>]) -> Vec<Vec<bool>> {
    let all: Vec<(usize, usize, &ContactBody)> = bodies
        .iter()
        .enumerate()
        .flat_map(|(i, soft)| {
            soft.iter().flat_map(move |s| (0..s.segments.all.len()).map(move |k| (i, k, s)))
        })
        .collect();
    let may = |a: &(usize, usize, &ContactBody), b: &(usize, usize, &ContactBody)| {
        if a.0 != b.0 {
            return a.2.contact.others && b.2.contact.others;
        }
        a.2.contact.itself && !a.2.segments.adjoin(a.1, b.1) && !overlap_at_rest(a.2, a.1, b.1)
    };
    all.iter().map(|a| all.iter().map(|b| may(a, b)).collect()).collect()
}

fn overlap_at_rest(soft: &ContactBody, a: usize, b: usize) -> bool {
    let inside = |points: usize, hull: usize| {
        let segment = &soft.segments.all[points];
        let Some(hull) = &soft.hulls[hull] else { return true };
        segment.posed(&soft.rest[segment.joint]).iter().any(|x| hull.contains(*x))
    };
    inside(a, b) || inside(b, a)
}
