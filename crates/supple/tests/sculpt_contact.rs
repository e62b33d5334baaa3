//! Contacts: parts of a surface that an edit makes meet.

mod sculpt_shapes;

use glam::Vec3;
use sculpt_shapes::{Shape, bar, sphere};
use supple::Run;
use supple::mesh::intersect::self_intersections;
use supple::sculpt::{
    self, Bend, Boundary, Curve, Extent, Guide, Knob, Move, OnContact, Op, Outcome, Params, Twist,
};

/// A bar of six units with a wall above its still end: the other end, bent back, runs into it.
fn bar_and_wall() -> Shape {
    let mut shape = bar(Vec3::new(6.0, 0.5, 0.5), [48, 4, 4]);
    let count = shape.positions.len() as u32;
    let wall = bar(Vec3::new(0.2, 3.0, 3.0), [1, 8, 8]);
    shape.positions.extend(wall.positions.iter().map(|&p| p + Vec3::new(-1.5, 2.5, 0.0)));
    shape.triangles.extend(wall.triangles.iter().map(|t| t.map(|v| v + count)));
    shape
}

fn sculpted(shape: &mut Shape, op: Op, on_contact: OnContact) -> Outcome {
    let params = Params { on_contact, ..Params::default() };
    let run = Run::default();
    sculpt::apply(&mut shape.positions, &shape.triangles, &[op], &params, &run)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn pairs(shape: &Shape) -> usize {
    self_intersections(&shape.positions, &shape.triangles, &Run::default())
        .expect("nobody cancels")
        .len()
}

fn ring(x: f32) -> Vec<Vec3> {
    let corners = [(1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)];
    corners.map(|(y, z)| Vec3::new(x, 0.25 * y as f32, 0.25 * z as f32)).to_vec()
}

/// Turns the handle beyond x = 1 by an angle about the z axis through the origin.
fn boundary(degrees: f32) -> Op {
    let knob = Knob::Rotate { joint: Vec3::ZERO, axis: Vec3::Z, degrees };
    Op::Boundary(Boundary { inner: ring(1.0), outer: ring(-1.0), knob, ..Boundary::default() })
}

/// Lifts the end of the bar straight up, through a quarter circle and back.
fn curve(shape: &Shape) -> Op {
    let pick = |keep: &dyn Fn(&Vec3) -> bool| {
        let all = 0..shape.positions.len() as u32;
        all.filter(|&i| keep(&shape.positions[i as usize])).collect::<Vec<u32>>()
    };
    let is_end = |p: &Vec3| p.x >= 1.5 && p.y < 0.5;
    let stays = |p: &Vec3| p.x <= -1.5 || p.y > 0.5;
    let extent = Extent::Between { inner: pick(&is_end), outer: pick(&stays) };
    let through = [(2.0, 0.0), (2.5, 1.0), (1.5, 2.2), (0.0, 2.6), (-2.0, 2.6)];
    let guide = Guide::Through(through.map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec());
    Op::Curve(Curve { guide, extent, steps: 32, ..Curve::default() })
}

#[test]
fn a_contact_is_reported_and_the_motion_goes_on() {
    let shape = bar_and_wall();
    assert_eq!(pairs(&shape), 0, "apart at rest");
    for op in [boundary(150.0), curve(&shape)] {
        let mut moved = bar_and_wall();
        let report = sculpted(&mut moved, op.clone(), OnContact::Report).report;
        let [contact] = &report.contacts[..] else { panic!("{op:?}: {report:?}") };
        assert!(contact.pairs > 0 && contact.pairs == pairs(&moved), "{contact:?}");
        assert!(contact.share > 0.1 && contact.share < 1.0 && !contact.stopped, "{contact:?}");
        assert!(!contact.first.is_empty() && contact.operation == 1, "{contact:?}");
        assert!(report.warnings.iter().any(|w| w.contains("meet after")), "{report:?}");
        let mut ignored = bar_and_wall();
        let quiet = sculpted(&mut ignored, op, OnContact::Ignore).report;
        assert!(ignored.positions == moved.positions, "the report changes nothing");
        assert!(quiet.contacts.is_empty() && quiet.warnings.is_empty(), "{quiet:?}");
    }
}

#[test]
fn a_motion_that_stops_is_free_there_and_not_a_little_later() {
    let shape = bar_and_wall();
    for op in [boundary(150.0), curve(&shape)] {
        let mut stopped = bar_and_wall();
        let report = sculpted(&mut stopped, op.clone(), OnContact::Stop).report;
        let [contact] = &report.contacts[..] else { panic!("{op:?}: {report:?}") };
        assert!(contact.stopped, "{contact:?}");
        assert_eq!(pairs(&stopped), 0, "{contact:?}");
        let later = f64::from(contact.share) + 0.002;
        let mut beyond = bar_and_wall();
        let ops = sculpt::partial(&[op], later);
        sculpted(&mut beyond, ops[0].clone(), OnContact::Ignore);
        assert!(pairs(&beyond) > 0, "{contact:?} could have gone on");
    }
}

#[test]
fn what_meets_nothing_is_not_stopped() {
    for op in [
        boundary(40.0),
        Op::Move(Move {
            center: 3.0 * Vec3::X,
            by: vec![0.2 * Vec3::Y],
            outer: 2.0,
            ..Move::default()
        }),
        Op::Twist(Twist { axis: Vec3::X, ..Twist::default() }),
    ] {
        let (mut free, mut watched) = (bar_and_wall(), bar_and_wall());
        sculpted(&mut free, op.clone(), OnContact::Ignore);
        let report = sculpted(&mut watched, op, OnContact::Stop).report;
        assert!(free.positions == watched.positions, "the whole motion");
        assert!(report.contacts.is_empty() && report.warnings.is_empty(), "{report:?}");
    }
}

/// Pairs that were there before are none that an edit made.
#[test]
fn old_intersections_are_not_new_contacts() {
    let mut shape = sphere(2);
    let count = shape.positions.len() as u32;
    let other = sphere(2);
    shape.positions.extend(other.positions.iter().map(|&p| p + Vec3::new(1.1, 0.1, 0.2)));
    shape.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + count)));
    let (rest, before) = (shape.positions.clone(), pairs(&shape));
    assert!(before > 0, "they overlap");
    let turn = Op::Bend(Bend { degrees: 1e-4, width: 20.0, ..Bend::default() });
    let report = sculpted(&mut shape, turn, OnContact::Stop).report;
    assert!(report.contacts.is_empty(), "{report:?}");
    assert!(shape.positions != rest, "it went on");
}

#[test]
fn a_long_bar_bent_too_far_stops_before_it_meets_itself() {
    let long = || bar(Vec3::new(24.0, 0.5, 0.5), [96, 2, 2]);
    let bend = Op::Bend(Bend { degrees: 400.0, width: 16.0, ..Bend::default() });
    let mut through = long();
    let report = sculpted(&mut through, bend.clone(), OnContact::Report).report;
    assert_eq!(report.contacts.len(), 1, "{report:?}");
    let mut stopped = long();
    let report = sculpted(&mut stopped, bend, OnContact::Stop).report;
    assert_eq!(pairs(&stopped), 0);
    assert!(report.contacts[0].share > 0.3, "{report:?}");
    assert!(report.max_displacement > 5.0, "{report:?}");
}

#[test]
fn same_bits_for_any_thread_count() {
    let params = Params { on_contact: OnContact::Stop, ..Params::default() };
    let moved = |run: &Run<'_>| {
        let mut shape = bar_and_wall();
        let ops = [boundary(150.0)];
        sculpt::apply(&mut shape.positions, &shape.triangles, &ops, &params, run).unwrap();
        shape.positions
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let threaded = moved(&Run { threads: Some(&pool), ..Run::default() });
    assert!(threaded == moved(&Run::default()), "three threads");
}
