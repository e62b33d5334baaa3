//! One way in and one way out for all formats, by the ending of the file's name.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use super::uri::{self, Policy};
use super::{
    Malformed, ReadError, Warning, WriteError, gltf, gzip, inputs, obj, off, ply, save, stl, usd,
    vtk,
};
use crate::Run;
use crate::mesh::attribute::{COLOR, NORMAL, UV, flip_if_uv};
use crate::mesh::{PointCloud, TriMesh};
use crate::rig::Body;
use crate::rig::asset::{Asset, UvOrigin};
use crate::rig::body::BodyError;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// glTF 2.0 as JSON, `.gltf`.
    Gltf,
    /// glTF 2.0 as one binary file, `.glb`.
    Glb,
    /// Wavefront, `.obj`.
    Obj,
    /// Polygon file format, `.ply`.
    Ply,
    /// Stereolithography, `.stl`.
    Stl,
    /// Object File Format, `.off`.
    Off,
    /// VTK legacy polydata, `.vtk`; read only.
    Vtk,
    /// USD as text, `.usda`; written only.
    Usda,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] =
        [Self::Glb, Self::Gltf, Self::Obj, Self::Ply, Self::Stl, Self::Off, Self::Vtk, Self::Usda];

    /// The ending of file names, without the dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Gltf => "gltf",
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Ply => "ply",
            Self::Stl => "stl",
            Self::Off => "off",
            Self::Vtk => "vtk",
            Self::Usda => "usda",
        }
    }

    /// Whether files of this kind are read.
    #[must_use]
    pub fn is_read(self) -> bool {
        self != Self::Usda
    }

    /// Whether files of this kind are written.
    #[must_use]
    pub fn is_written(self) -> bool {
        self != Self::Vtk
    }

    /// Where files of this kind count texture coordinates from.
    #[must_use]
    pub fn uv_origin(self) -> UvOrigin {
        match self {
            Self::Gltf | Self::Glb => UvOrigin::Top,
            _ => UvOrigin::Bottom,
        }
    }

    /// The format a file's name ends with, in any case, and whether `.gz` follows it.
    #[must_use]
    pub fn of(path: &Path) -> Option<(Self, bool)> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, compressed) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let (_, ending) = name.rsplit_once('.')?;
        let format = Self::ALL.into_iter().find(|f| f.ending() == ending)?;
        Some((format, compressed))
    }

    /// The format that contents look like, for files whose name does not tell.
    #[must_use]
    pub fn sniff(bytes: &[u8]) -> Option<Self> {
        let head = &bytes[..bytes.len().min(1 << 10)];
        let text = super::text::without_mark(head).trim_ascii_start();
        let first_word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let has_line = |start: &[u8]| text.split(|&b| b == b'\n').any(|l| l.starts_with(start));
        match first_word {
            _ if head.starts_with(b"glTF") => Some(Self::Glb),
            b"ply" => Some(Self::Ply),
            b"solid" => Some(Self::Stl),
            b"OFF" | b"COFF" | b"NOFF" | b"CNOFF" | b"STOFF" => Some(Self::Off),
            _ if text.starts_with(b"# vtk DataFile") => Some(Self::Vtk),
            _ if text.starts_with(b"{") => Some(Self::Gltf),
            _ if has_line(b"v ") && !text.contains(&0) => Some(Self::Obj),
            _ => None,
        }
    }

    /// What is lost when an asset is written in this format.
    fn losses(self, asset: &Asset) -> Vec<Warning> {
        if matches!(self, Self::Glb | Self::Gltf) {
            return Vec::new();
        }
        let mut lost = Vec::new();
        if asset.meshes.len() > 1 {
            lost.push(format!("{} meshes became one", asset.meshes.len()));
        }
        let clouds = asset.clouds.len() - usize::from(asset.meshes.is_empty());
        for (count, what) in [
            (clouds, "point cloud"),
            (asset.skins.len(), "skin"),
            (asset.clips.len(), "animation"),
            (asset.images.len(), "image"),
            (asset.materials.len(), "material"),
        ] {
            if count > 0 {
                lost.push(left_out(count, what));
            }
        }
        for mesh in &asset.meshes {
            self.mesh_losses(mesh, &mut lost);
        }
        let format = self.ending().to_ascii_uppercase();
        let say = |what| format!("{what}: {format} has no place for that");
        lost.into_iter().map(|what| Warning::new(super::Place::File, say(what))).collect()
    }

    fn mesh_losses(self, mesh: &TriMesh, lost: &mut Vec<String>) {
        if !mesh.morphs.is_empty() {
            lost.push(left_out(mesh.morphs.len(), "morph target"));
        }
        if !mesh.groups.is_empty() && self != Self::Obj {
            lost.push(left_out(mesh.groups.len(), "group"));
        }
        let keeps = |name: &str, corner: bool| match self {
            Self::Obj => matches!(name, UV | NORMAL) || (name == COLOR && !corner),
            Self::Off => matches!(name, UV | NORMAL | COLOR) && !corner,
            Self::Stl => false,
            _ => true,
        };
        let vertex = mesh.attributes.iter().map(|a| (a.name.as_str(), false));
        let corner = mesh.corners.iter().map(|c| (c.name.as_str(), true));
        for (name, _) in vertex.chain(corner).filter(|&(name, corner)| !keeps(name, corner)) {
            lost.push(format!("the values of '{name}' left out"));
        }
    }
}

/// What may be done while reading a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether a glTF file may name files outside its own folder.
    pub allow_outside: bool,
}

/// A file's contents, and what had to be mended or left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What the file holds.
    pub asset: Asset,
    /// What was mended or left out.
    pub warnings: Vec<Warning>,
}

/// Reads a file of any known kind, compressed or not.
///
/// # Errors
///
/// [`ReadError`] if the file cannot be opened, is of no known kind, or makes no sense.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    let io_error = |source| ReadError::Io { path: path.to_owned(), source };
    let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
    inputs::remember(path);
    let mut bytes = inputs::read(path).map_err(io_error)?;
    if gzip::is_gzip(&bytes) {
        bytes = gzip::decompress(&bytes).map_err(malformed)?;
    }
    let named = Format::of(path).map(|(format, _)| format);
    let format = named.or_else(|| Format::sniff(&bytes)).filter(|f| f.is_read());
    let Some(format) = format else {
        return Err(ReadError::UnknownFormat {
            path: path.to_owned(),
            known: known(Format::is_read),
        });
    };
    let mut warnings = Vec::new();
    let folder = path.parent().unwrap_or(Path::new("."));
    let policy = if options.allow_outside { Policy::AllowOutside } else { Policy::FolderOnly };
    let fetch = uri::fetcher(folder, policy);
    let asset = read_bytes(format, &bytes, &fetch, &mut warnings).map_err(malformed)?;
    Ok(Loaded { asset, warnings })
}

fn read_bytes(
    format: Format,
    bytes: &[u8],
    fetch: &dyn Fn(&str) -> Result<Vec<u8>, uri::FetchError>,
    warnings: &mut Vec<Warning>,
) -> Result<Asset, Malformed> {
    match format {
        Format::Obj => obj::read(bytes, warnings),
        Format::Ply => ply::read(bytes, warnings),
        Format::Stl => stl::read(bytes, warnings),
        Format::Off => off::read(bytes, warnings),
        Format::Vtk => vtk::read(bytes, warnings),
        Format::Gltf | Format::Glb => gltf::read(bytes, fetch, warnings),
        Format::Usda => Err(Malformed::new(
            super::Place::File,
            format!("{} files are not read", format.ending()),
            "convert it to one of the formats that are",
        )),
    }
}

/// Writes an asset in the format its name ends with; says what that format cannot hold.
///
/// # Errors
///
/// [`WriteError`] if the file cannot be written, or its kind is unknown.
pub fn write(path: &Path, asset: &Asset) -> Result<Vec<Warning>, WriteError> {
    let unknown =
        || WriteError::UnknownFormat { path: path.to_owned(), known: known(Format::is_written) };
    let (format, compressed) = Format::of(path).ok_or_else(unknown)?;
    if !format.is_written() {
        return Err(unknown());
    }
    if asset.meshes.is_empty() && asset.clouds.is_empty() {
        let what = "there is neither a mesh nor a point cloud to write".to_owned();
        return Err(WriteError::Unsupported { path: path.to_owned(), what });
    }
    if asset.meshes.is_empty() && matches!(format, Format::Stl | Format::Usda) {
        let what = format!("{} holds no point clouds; use PLY", format.ending());
        return Err(WriteError::Unsupported { path: path.to_owned(), what });
    }
    let shape = Content::of(asset, format).map_err(|error| WriteError::Unsupported {
        path: path.to_owned(),
        what: error.to_string(),
    })?;
    let written = save(path, |out| {
        if !compressed {
            return write_as(format, &shape, out);
        }
        let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
        write_as(format, &shape, &mut encoder)?;
        encoder.finish().map(|_| ())
    });
    written.map_err(|source| WriteError::Io { path: path.to_owned(), source })?;
    Ok(format.losses(asset))
}

/// What a format holds: the whole asset, or one shape.
enum Content<'a> {
    Everything(&'a Asset),
    Mesh(Box<Cow<'a, TriMesh>>),
    Cloud(Cow<'a, PointCloud>),
}

impl<'a> Content<'a> {
    /// Everything for glTF; else the first cloud if there is no mesh, the one mesh as it is, or all
    /// meshes at rest in one.
    fn of(asset: &'a Asset, format: Format) -> Result<Self, BodyError> {
        if matches!(format, Format::Gltf | Format::Glb) {
            return Ok(Self::Everything(asset));
        }
        if let ([], [cloud, ..]) = (&asset.meshes[..], &asset.clouds[..]) {
            let mut cloud = Cow::Borrowed(cloud);
            if asset.uv_origin != format.uv_origin() {
                cloud.to_mut().attributes.values_mut().for_each(|(n, v)| flip_if_uv(n, v));
            }
            return Ok(Self::Cloud(cloud));
        }
        let (mesh, origin) = if asset.is_one_still_mesh() {
            (Cow::Borrowed(&asset.meshes[0]), asset.uv_origin)
        } else {
            let body = Body::from_asset(asset)?;
            (Cow::Owned(body.rest_mesh(&Run::default())), UvOrigin::Top)
        };
        Ok(Self::Mesh(Box::new(origin.convert(format.uv_origin(), mesh))))
    }
}

fn write_as(format: Format, shape: &Content<'_>, out: &mut impl Write) -> io::Result<()> {
    match (format, shape) {
        (Format::Glb, Content::Everything(asset)) => gltf::write_glb(asset, out),
        (Format::Gltf, Content::Everything(asset)) => gltf::write_gltf(asset, out),
        (Format::Obj, Content::Mesh(mesh)) => obj::write(mesh, out),
        (Format::Ply, Content::Mesh(mesh)) => ply::write(mesh, out),
        (Format::Stl, Content::Mesh(mesh)) => stl::write(mesh, out),
        (Format::Off, Content::Mesh(mesh)) => off::write(mesh, out),
        (Format::Usda, Content::Mesh(mesh)) => usd::write(mesh, out),
        (Format::Obj, Content::Cloud(cloud)) => obj::write_cloud(cloud, out),
        (Format::Ply, Content::Cloud(cloud)) => ply::write_cloud(cloud, out),
        (Format::Off, Content::Cloud(cloud)) => off::write_cloud(cloud, out),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn left_out(count: usize, what: &str) -> String {
    format!("{count} {what}{} left out", if count == 1 { "" } else { "s" })
}

/// The endings of the formats that `can` do something, for a message.
fn known(can: impl Fn(Format) -> bool) -> String {
    let endings: Vec<_> = Format::ALL.into_iter().filter(|&f| can(f)).map(Format::ending).collect();
    format!("{}; each also as .gz", endings.join(", "))
}
