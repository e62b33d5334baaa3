//! Where a body is on its way through its modifiers: what a tick sees of it.

use glam::{DAffine3, DMat4, DVec3, Mat4};

use super::open::Open;
use crate::modifier::{Marker, OnItsWay};

/// Where the primary motion and the modifiers before carry a body.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// The mean of its vertices.
    pub(super) centroid: DVec3,
    /// From bind to world, for each joint.
    pub(super) joints: Vec<Mat4>,
    /// The weight of each morph target.
    pub(super) morph_weights: Vec<f32>,
    /// For each modifier, how far its markers are from where their joints carry them: before the skeleton, where they
    /// are bound. Empty if no modifier has markers.
    pub(super) shifts: Vec<Vec<DVec3>>,
    /// Whether the skeleton has moved the markers.
    pub(super) is_posed: bool,
}

impl Carried {
    /// By its joints alone.
    pub(super) fn new(centroid: DVec3, joints: Vec<Mat4>) -> Self {
        let (morph_weights, shifts) = (Vec::new(), Vec::new());
        Self { centroid, joints, morph_weights, shifts, is_posed: false }
    }

    /// With the markers of all modifiers, where they are bound.
    pub(super) fn with_markers(self, modifiers: &[Open]) -> Self {
        if modifiers.iter().all(|m| m.markers.is_empty()) {
            return self;
        }
        let none = |m: &Open| vec![DVec3::ZERO; m.markers.len()];
        Self { shifts: modifiers.iter().map(none).collect(), ..self }
    }

    /// How far the markers of a modifier are from where their joints carry them.
    pub(super) fn shifts(&self, i: usize) -> &[DVec3] {
        self.shifts.get(i).map_or(&[], Vec::as_slice)
    }

    /// The skeleton and the morph targets move the markers, if they have not.
    pub(super) fn pose(&mut self, modifiers: &[Open]) {
        if std::mem::replace(&mut self.is_posed, true) {
            return;
        }
        for (shifts, modifier) in self.shifts.iter_mut().zip(modifiers) {
            for (shift, Placed { marker, .. }) in shifts.iter_mut().zip(&modifier.markers) {
                *shift = marker.posed(*shift, &self.morph_weights, &self.joints);
            }
        }
    }

    /// The markers of all modifiers, on their way; given back to [`arrive`](Self::arrive).
    pub(super) fn markers<'a>(&self, modifiers: &'a [Open]) -> Vec<OnItsWay<'a>> {
        let placed = modifiers.iter().flat_map(|m| &m.markers);
        let on_its_way = |(placed, &shift): (&'a Placed, &DVec3)| OnItsWay {
            at: match self.is_posed {
                true => placed.marker.carried(&self.joints),
                false => placed.marker.bound,
            },
            shift,
            near: &placed.near,
        };
        placed.zip(self.shifts.iter().flatten()).map(on_its_way).collect()
    }

    /// Where a modifier took the markers.
    pub(super) fn arrive(&mut self, markers: &[OnItsWay<'_>]) {
        for (shift, marker) in self.shifts.iter_mut().flatten().zip(markers) {
            if marker.shift.is_finite() {
                *shift = marker.shift;
            }
        }
    }

    /// Carries it on.
    pub(super) fn by(&mut self, map: DAffine3) {
        self.centroid = map.transform_point3(self.centroid);
        for shift in self.shifts.iter_mut().flatten() {
            *shift = map.transform_vector3(*shift);
        }
        let map = DMat4::from(map);
        for joint in &mut self.joints {
            *joint = (map * joint.as_dmat4()).as_mat4();
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.centroid.is_finite() && self.joints.iter().all(Mat4::is_finite)
    }
}

/// A marker with the vertices around it.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) marker: Marker,
    /// Their numbers and how much each counts; empty if nobody takes the marker with it.
    pub(super) near: Vec<(u32, f64)>,
}
