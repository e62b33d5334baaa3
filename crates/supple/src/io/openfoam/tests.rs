use super::*;

/// Two cubes side by side along x, cut where they meet into one case, two parts, or two parts in one file.
struct Cubes {
    binary: bool,
}

impl Cubes {
    fn header(&self, class: &str) -> Vec<u8> {
        let format = if self.binary { "binary" } else { "ascii" };
        format!(
            "FoamFile\n{{\n version 2.0;\n format {format};\n arch \"LSB;label=32;scalar=64\";\n class {class};\n}}\n// * * //\n"
        )
        .into_bytes()
    }

    fn list(&self, numbers: &[Vec<f64>], labels: bool) -> Vec<u8> {
        let mut out = format!("{}\n(", numbers.len()).into_bytes();
        for tuple in numbers {
            if self.binary {
                let bytes = |&x: &f64| match labels {
                    true => (x as i32).to_le_bytes().to_vec(),
                    false => x.to_le_bytes().to_vec(),
                };
                out.extend(tuple.iter().flat_map(bytes));
            } else {
                let words: Vec<String> = tuple.iter().map(f64::to_string).collect();
                let text = words.join(" ");
                out.extend(
                    if tuple.len() > 1 { format!("({text})\n") } else { format!("{text}\n") }
                        .bytes(),
                );
            }
        }
        out.push(b')');
        out
    }

    fn labels(&self, class: &str, all: &[i32]) -> Vec<u8> {
        let tuples: Vec<Vec<f64>> = all.iter().map(|&x| vec![f64::from(x)]).collect();
        [self.header(class), self.list(&tuples, true)].concat()
    }

    /// The files of the mesh of `count` cubes from the place `first`.
    fn mesh(&self, first: u32, count: u32) -> [Vec<u8>; 5] {
        let layers = count + 1;
        let point = |k: u32| vec![f64::from(first + k / 4), f64::from(k % 2), f64::from(k / 2 % 2)];
        let points: Vec<Vec<f64>> = (0..4 * layers).map(point).collect();
        let across = |k: u32| [4 * k, 4 * k + 1, 4 * k + 3, 4 * k + 2];
        let mut faces: Vec<[u32; 4]> = (1..count).map(across).collect();
        let inner = faces.len();
        let mut owner: Vec<i32> = (0..inner as i32).collect();
        // Both ends, then the sides.
        faces.extend([across(0), across(count)]);
        owner.extend([0, count as i32 - 1]);
        for cube in 0..count {
            let (a, b) = (4 * cube, 4 * cube + 4);
            for [p, q] in [[0, 1], [1, 3], [3, 2], [2, 0]] {
                faces.push([a + p, a + q, b + q, b + p]);
                owner.push(cube as i32);
            }
        }
        let neighbour: Vec<i32> = (1..=inner as i32).collect();
        let faces = if self.binary {
            let starts: Vec<i32> = (0..=faces.len() as i32).map(|k| 4 * k).collect();
            let flat: Vec<i32> = faces.iter().flatten().map(|&p| p as i32).collect();
            let list = |all: &[i32]| {
                self.list(&all.iter().map(|&x| vec![f64::from(x)]).collect::<Vec<_>>(), true)
            };
            [self.header("faceCompactList"), list(&starts), list(&flat)].concat()
        } else {
            let text: Vec<String> =
                faces.iter().map(|f| format!("4({} {} {} {})", f[0], f[1], f[2], f[3])).collect();
            [
                self.header("faceList"),
                format!("{}\n(\n{}\n)", faces.len(), text.join("\n")).into_bytes(),
            ]
            .concat()
        };
        let walls = 4 * count + 1;
        let boundary = format!(
            "2\n(\n inlet {{ type patch; nFaces 1; startFace {inner}; }}\n walls {{ type wall; nFaces {walls}; startFace {}; }}\n)",
            inner + 1
        );
        [
            [self.header("vectorField"), self.list(&points, false)].concat(),
            faces,
            self.labels("labelList", &owner),
            self.labels("labelList", &neighbour),
            [self.header("polyBoundaryMesh"), boundary.into_bytes()].concat(),
        ]
    }

    fn field(&self, values: &[[f64; 3]], inlet: bool) -> Vec<u8> {
        let tuples: Vec<Vec<f64>> = values.iter().map(|v| v.to_vec()).collect();
        let patch = if inlet { "inlet { type fixedValue; value uniform (9 0 0); }" } else { "" };
        [
            self.header("volVectorField"),
            b"dimensions [0 1 -1 0 0 0 0];\ninternalField nonuniform List<vector> ".to_vec(),
            self.list(&tuples, false),
            format!(";\nboundaryField\n{{\n {patch} walls {{ type zeroGradient; }}\n}}\n")
                .into_bytes(),
        ]
        .concat()
    }
}

fn write_case(folder: &Path, mesh: &[Vec<u8>], field: &[u8], gzip: bool) {
    let place = folder.join("constant/polyMesh");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::create_dir_all(folder.join("0.5")).unwrap();
    let put = |path: PathBuf, bytes: &[u8]| {
        if !gzip {
            return std::fs::write(path, bytes).unwrap();
        }
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        let name = format!("{}.gz", path.file_name().unwrap().to_string_lossy());
        std::fs::write(path.with_file_name(name), encoder.finish().unwrap()).unwrap();
    };
    for (name, bytes) in ["points", "faces", "owner", "neighbour", "boundary"].iter().zip(mesh) {
        put(place.join(name), bytes);
    }
    put(folder.join("0.5/U"), field);
}

/// Files of several processors in one, of which only the first has a header.
fn collate(files: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"FoamFile { version 2.0; format binary; class decomposedBlockData; }\n".to_vec();
    for (k, file) in files.iter().enumerate() {
        let end = Foam::new(file).unwrap();
        let skip = if k == 0 { 0 } else { end.header_end() };
        out.extend(format!("\n// Processor{k}\n{}\n(", file.len() - skip).bytes());
        out.extend(&file[skip..]);
        out.extend(b")\n");
    }
    out
}

const VALUES: [[f64; 3]; 2] = [[1.0, 0.0, 0.5], [3.0, -1.0, 0.5]];

fn level(folder: &Path) -> Dataset {
    let case = Case::open(folder).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(case.times(), Some(vec![0.5]));
    case.read(0, Select::All).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn text_binary_and_compressed_cases_are_the_same() {
    let mut first: Option<Dataset> = None;
    for (binary, gzip) in [(false, false), (true, false), (false, true), (true, true)] {
        let folder = tempfile::tempdir().unwrap();
        let cubes = Cubes { binary };
        write_case(folder.path(), &cubes.mesh(0, 2), &cubes.field(&VALUES, true), gzip);
        let found = level(folder.path());
        assert_eq!(found.grid.cell_count(), 2);
        let velocity = &found.array("U").unwrap().values;
        assert_eq!(velocity[..3], [9.0, 0.0, 0.0], "the inlet has its own value");
        assert_eq!(velocity[12..15], [2.0, -0.5, 0.5], "between cells is their mean");
        assert_eq!(velocity[24..27], [3.0, -1.0, 0.5], "at the end is the last cell");
        assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "{binary} {gzip}");
    }
}

/// Patches begin at faces whose numbers are larger than the file that names them is long.
#[test]
fn cases_with_many_faces_and_few_patches_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let cubes = Cubes { binary: false };
    let values: Vec<[f64; 3]> = (0..2000).map(|k| [f64::from(k), 0.0, 0.0]).collect();
    let mesh = cubes.mesh(0, 2000);
    assert!(mesh[4].len() < 1999, "{}", mesh[4].len());
    write_case(folder.path(), &mesh, &cubes.field(&values, true), false);
    let found = level(folder.path());
    assert_eq!(found.grid.cell_count(), 2000);
    assert_eq!(
        found.array("U").unwrap().values[..3],
        [9.0, 0.0, 0.0],
        "the inlet has its own value"
    );
}

#[test]
fn decomposed_and_collated_cases_are_joined() {
    for binary in [false, true] {
        let cubes = Cubes { binary };
        let parts: Vec<([Vec<u8>; 5], Vec<u8>)> = (0..2)
            .map(|k| (cubes.mesh(k, 1), cubes.field(&VALUES[k as usize..][..1], k == 0)))
            .collect();
        let apart = tempfile::tempdir().unwrap();
        for (k, (mesh, field)) in parts.iter().enumerate() {
            write_case(&apart.path().join(format!("processor{k}")), mesh, field, false);
        }
        let collated = tempfile::tempdir().unwrap();
        let files: Vec<Vec<u8>> = (0..5)
            .map(|f| collate(&parts.iter().map(|(mesh, _)| mesh[f].clone()).collect::<Vec<_>>()))
            .collect();
        let field = collate(&parts.iter().map(|(_, field)| field.clone()).collect::<Vec<_>>());
        write_case(&collated.path().join("processors2"), &files, &field, false);
        std::fs::write(collated.path().join("case.foam"), "").unwrap();
        let (a, b) = (level(apart.path()), level(&collated.path().join("case.foam")));
        assert_eq!(a.grid.cell_count(), 2);
        assert_eq!(a, b, "{binary}");
    }
}

#[test]
fn damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let cubes = Cubes { binary: true };
    let mut field = cubes.field(&VALUES, true);
    field.truncate(field.len() / 2);
    write_case(folder.path(), &cubes.mesh(0, 2), &field, false);
    let case = Case::open(folder.path()).unwrap();
    let error = case.read(0, Select::All).unwrap_err().to_string();
    assert!(error.contains("0.5/U") && error.contains("byte"), "{error}");
}

/// One more than the last cell was computed before anybody looked whether there is such a cell.
#[test]
fn a_cell_beyond_all_numbers_is_no_overflow() {
    let cubes = Cubes { binary: false };
    let mut files = cubes.mesh(0, 2).to_vec();
    files[2] = [cubes.header("labelList"), b"11\n(0 1 1 0 0 0 0 1 1 1 1e308)".to_vec()].concat();
    files.push(cubes.field(&VALUES, true));
    let error = read(&files.join(&SEPARATOR)).unwrap_err();
    assert!(error.what.contains("a cell that is not there"), "{error}");
    assert!(!error.fix.is_empty());
}
