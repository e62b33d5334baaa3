//! Where a scene is looked at from.

use serde::{Deserialize, Serialize};

use super::document::{Range, Table};
use super::{Problem, Unit};

/// A camera; without one, pictures are framed by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Camera {
    /// Where it is, in scene units.
    pub eye: [f64; 3],
    /// What it looks at, in scene units.
    pub target: [f64; 3],
    /// Which way is up in the picture. Default: y.
    pub up: [f64; 3],
    /// How much it sees from top to bottom, in degrees; from side to side in a picture that is taller
    /// than wide. Default: 35.
    pub fov: f64,
}

impl Camera {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["eye", "target", "up", "fov"])?;
        let eye = table.need("eye")?;
        let target = table.need("target")?.numbers3(Unit("m"), Range::ANY)?;
        let camera = Self {
            eye: eye.numbers3(Unit("m"), Range::ANY)?,
            target,
            up: table
                .get("up")
                .map_or(Ok([0.0, 1.0, 0.0]), |f| f.numbers3(Unit(""), Range::ANY))?,
            fov: table.number_or("fov", Unit("deg"), Range { least: 1.0, most: 170.0 }, 35.0)?,
        };
        let distance: f64 = camera.eye.iter().zip(target).map(|(a, b)| (a - b).abs()).sum();
        if distance == 0.0 {
            return Err(eye.wrong("the camera is at its own target", "move 'eye' or 'target'"));
        }
        if camera.up == [0.0; 3] {
            return Err(table.wrong("'up' has no direction", "use up = [0, 1, 0]"));
        }
        Ok(camera)
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::Scene;

    fn parse(camera: &str) -> Result<Scene, crate::scene::Problem> {
        Scene::parse(&format!("supple = 1\n[camera]\n{camera}"), None)
    }

    #[test]
    fn a_camera_is_read_and_written() {
        let scene = parse("eye = [0, 1, 4]\ntarget = [0, 1, 0]\nfov = \"0.5 rad\"").unwrap();
        let camera = scene.camera.unwrap();
        assert_eq!(camera.up, [0.0, 1.0, 0.0]);
        assert!((camera.fov - 28.647_889_756).abs() < 1e-6, "half a radian, not {}", camera.fov);
        assert_eq!(Scene::parse(&scene.to_toml(), None).unwrap(), scene);
    }

    #[test]
    fn what_cannot_be_looked_through_is_an_error_with_its_line() {
        let problem = parse("eye = [1, 1, 1]\ntarget = [1, 1, 1]").unwrap_err();
        assert_eq!(problem.line, 3);
        let problem = parse("eye = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 400").unwrap_err();
        assert_eq!(problem.line, 5);
        assert!(problem.to_string().contains("170"), "{problem}");
        assert!(parse("eye = [0, 0, 4]").is_err(), "a camera needs a target");
    }
}
