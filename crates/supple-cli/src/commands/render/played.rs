//! What is in front of the camera: a player and the paints of its bodies.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use glam::Vec3;
use supple::Asset;
use supple::asset::Lens;
use supple::player::{Frame, Player};
use supple::rig::Hierarchy;
use supple::scene::{Folder, Keyframes, Motion, Scene, Source, Time};
use supple_gpu::camera::{Camera, Projection};
use supple_gpu::texture::paints_of;
use supple_gpu::view::Paint;

use crate::commands::read;
use crate::shell::Shell;

/// A scene being played, with what its surfaces look like.
pub(crate) struct PlayedScene {
    player: Player,
    cameras: Vec<FileCamera>,
    paints: Vec<Vec<Paint>>,
}

/// A camera of the file, where it is at rest.
struct FileCamera {
    /// Its own name and that of the node that carries it; either may be empty.
    names: [String; 2],
    camera: Camera,
}

impl PlayedScene {
    /// Opens a scene, a mesh, or a folder with a baked GLB.
    pub(crate) fn open(input: &Path, shell: &Shell) -> anyhow::Result<Self> {
        if input.is_dir() {
            return Self::open(&baked_in(input)?, shell);
        }
        if input.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
            let mut notes = Vec::new();
            let scene = Scene::load_noting(input, shell.policy(), &mut notes)?;
            shell.warn("scene", &notes);
            let folder = Folder::of(input, shell.policy());
            let (player, warnings) = Player::open(&scene, &folder, &shell.quiet_run())?;
            shell.warn("scene", &warnings);
            return Ok(Self::of(player, shell));
        }
        Self::of_asset(read(input, shell)?, shell)
    }

    /// An asset that plays its first clip, or stands still.
    fn of_asset(asset: Asset, shell: &Shell) -> anyhow::Result<Self> {
        let mut scene = Scene::of("subject", Source::File { file: "subject".to_owned() });
        scene.time = Time { start: 0.0, end: 0.0, ..Time::default() };
        if let Some((start, end)) = asset.clips.first().and_then(|clip| clip.span()) {
            let (start, end) = (f64::from(start), f64::from(end));
            scene.time = Time { start, end, ..Time::default() };
            let keyframes = Keyframes { start, ..Keyframes::default() };
            scene.assets[0].motion = Motion::Keyframes(keyframes);
        }
        let cameras = cameras_of(&asset)?;
        let mut asset = Some(asset);
        let mut load = |_: &Source| asset.take().ok_or_else(|| "loaded twice".into());
        let here = Folder::new(Path::new("."));
        let player = Player::new(&scene, &here, &mut load, &shell.quiet_run())?;
        Ok(Self { cameras, ..Self::of(player, shell) })
    }

    pub(crate) fn of(player: Player, shell: &Shell) -> Self {
        let mut paints = Vec::new();
        for cast in player.cast() {
            let (of_body, warnings) = paints_of(&cast.rest);
            shell.warn(&cast.actor.name, &warnings);
            paints.push(of_body);
        }
        Self { player, cameras: Vec::new(), paints }
    }

    pub(crate) fn player(&self) -> &Player {
        &self.player
    }

    /// The camera of the scene, or the first one of the file.
    pub(crate) fn camera(&self) -> Option<Camera> {
        self.scene_camera().or_else(|| self.cameras.first().map(|known| known.camera))
    }

    /// The camera of the file with this name, or the one of this number, counted from 0.
    pub(crate) fn camera_named(&self, name: &str) -> anyhow::Result<Camera> {
        let by_name = self.cameras.iter().find(|known| known.names.iter().any(|n| n == name));
        let by_number = || self.cameras.get(name.parse::<usize>().ok()?);
        if let Some(known) = by_name.or_else(by_number) {
            return Ok(known.camera);
        }
        if self.cameras.is_empty() {
            bail!("there is no camera '{name}': the input has none; place one with --from");
        }
        let called = |(i, known): (usize, &FileCamera)| {
            let name = known.names.iter().find(|name| !name.is_empty());
            name.map_or_else(|| i.to_string(), |name| format!("'{name}'"))
        };
        let there: Vec<String> = self.cameras.iter().enumerate().map(called).collect();
        bail!("there is no camera '{name}'; there are {}", there.join(", "))
    }

    /// Which way is up where the scene says so.
    pub(crate) fn up(&self) -> Option<Vec3> {
        self.scene_camera().map(|camera| camera.up)
    }

    fn scene_camera(&self) -> Option<Camera> {
        let camera = self.player.scene().camera?;
        let vector = |v: [f64; 3]| glam::DVec3::from(v).as_vec3();
        let fov_y = camera.fov.to_radians() as f32;
        Some(Camera {
            eye: vector(camera.eye),
            target: vector(camera.target),
            up: vector(camera.up),
            projection: Projection::Perspective { fov_y },
        })
    }

    pub(crate) fn paints(&self, body: usize) -> &[Paint] {
        &self.paints[body]
    }

    pub(crate) fn frames(&self) -> u32 {
        self.player.frames()
    }

    pub(crate) fn fps(&self) -> f64 {
        self.player.scene().time.fps
    }

    pub(crate) fn frame(&mut self, i: u32, shell: &Shell) -> anyhow::Result<Frame> {
        let have = self.frames();
        if i >= have {
            match have {
                0 | 1 => bail!("there is no frame {i}: nothing moves, so there is one frame, 0"),
                _ => bail!("there is no frame {i}: the frames are 0 to {}", have - 1),
            }
        }
        Ok(self.player.frame(i, &shell.quiet_run())?)
    }

    /// Takes back a frame that was shown: the next is written into its memory.
    pub(crate) fn take_back(&self, frame: Frame) {
        self.player.take_back(frame.bodies);
    }
}

fn cameras_of(asset: &Asset) -> anyhow::Result<Vec<FileCamera>> {
    let locals: Vec<_> = asset.nodes.iter().map(|node| node.local).collect();
    let globals = Hierarchy::new(&asset.nodes)?.globals(&locals);
    let placed = |camera: &supple::asset::Camera| {
        let projection = match camera.lens {
            Lens::Perspective { fov_y } => Projection::Perspective { fov_y },
            Lens::Orthographic { height } => Projection::Orthographic { height },
        };
        let place = globals.get(camera.node as usize).copied().unwrap_or_default();
        let node = asset.nodes.get(camera.node as usize).map(|node| node.name.clone());
        FileCamera {
            names: [camera.name.clone(), node.unwrap_or_default()],
            camera: Camera::from_matrix(place, projection, 1.0),
        }
    };
    Ok(asset.cameras.iter().map(placed).collect())
}

/// The one baked GLB of a folder.
fn baked_in(folder: &Path) -> anyhow::Result<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot look into {}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "glb"))
        .collect();
    found.sort();
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => bail!("{} holds no baked .glb; name the file to show", folder.display()),
        many => bail!("{} holds {} .glb files; name the one to show", folder.display(), many.len()),
    }
}
