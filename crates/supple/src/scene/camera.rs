//! Where a scene is looked at from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::document::Location;

/// A camera; without one, pictures are framed by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Camera {
    /// Where it is, in scene units.
    #[schemars(extend("unit" = "m", "examples" = [[0.0, 1.0, 4.0]]))]
    pub eye: [f64; 3],
    /// What it looks at, in scene units.
    #[schemars(extend("unit" = "m", "examples" = [[0.0, 1.0, 0.0]]))]
    pub target: [f64; 3],
    /// Which way is up in the picture. Default: y.
    #[serde(default = "upwards")]
    pub up: [f64; 3],
    /// How much it sees from top to bottom, in degrees; from side to side in a picture that is taller
    /// than wide. Default: 35.
    #[serde(default = "field_of_view")]
    #[schemars(range(min = 1.0, max = 170.0), extend("unit" = "deg"))]
    pub fov: f64,
}

fn upwards() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

fn field_of_view() -> f64 {
    35.0
}

impl Camera {
    pub(super) fn check(&self, at: Location<'_>) -> Result<(), Problem> {
        if self.eye == self.target {
            let fix = "move 'eye' or 'target'";
            return Err(at.get("eye").wrong("the camera is at its own target", fix));
        }
        if self.up == [0.0; 3] {
            return Err(at.get("up").wrong("'up' has no direction", "use up = [0, 1, 0]"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::Scene;

    fn parse(camera: &str) -> Result<Scene, crate::scene::Problem> {
        Scene::parse(&format!("supple = 2\n[camera]\n{camera}"), None)
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
