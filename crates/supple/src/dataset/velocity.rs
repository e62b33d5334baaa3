//! Which arrays of a file are the velocity: by name, by what the file says of them, or because nothing else is a
//! vector.

use super::ArrayInfo;

/// Which arrays are the velocity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VelocitySource {
    /// An array of two or three components.
    Vector(String),
    /// Two or three arrays, one a component.
    Components(Vec<String>),
    /// A vector divided by a scalar, as compressible solvers write it.
    Momentum {
        /// Momentum per volume.
        momentum: String,
        /// Mass per volume.
        density: String,
    },
}

/// Why there is no velocity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VelocityError {
    /// An array is not in the file.
    #[error("there is no array '{name}' (there are: {known})")]
    Missing {
        /// Its name.
        name: String,
        /// What there is.
        known: String,
    },
    /// Nothing looks like a velocity.
    #[error(
        "there is no vector that could be a velocity (there are: {known}; name one, or its components, with --velocity)"
    )]
    None {
        /// What there is.
        known: String,
    },
    /// Several could be it.
    #[error("several arrays could be the velocity: {known} (choose with --velocity NAME)")]
    Several {
        /// Their names.
        known: String,
    },
    /// One component was found, another was not.
    #[error(
        "'{name}' is one component of a velocity, the other is not here (add the file that has it, or name the components with --velocity U,V)"
    )]
    Half {
        /// The component that is there.
        name: String,
    },
    /// A name stands for an array that has too few components.
    #[error(
        "'{name}' has one component, a velocity has two or three (name two or three arrays: --velocity U,V[,W])"
    )]
    Scalar {
        /// Its name.
        name: String,
    },
    /// More names than there are directions.
    #[error("a velocity has two or three components, {names} were named (--velocity U,V[,W])")]
    Names {
        /// How many were named.
        names: usize,
    },
    /// An array does not fit its grid.
    #[error(
        "the array '{name}' has {found} numbers where the grid has room for {expected} (the file is damaged; export it again)"
    )]
    Size {
        /// Its name.
        name: String,
        /// Numbers that are there.
        found: usize,
        /// Numbers that should be.
        expected: usize,
    },
}

/// Names a velocity has in files, the likelier first; compared without regard to case.
const VECTOR_NAMES: [&str; 10] = [
    "u",
    "velocity",
    "vel",
    "v",
    "velocities",
    "vectors",
    "velocity_field",
    "umean",
    "wind",
    "vectors_",
];

/// Names its components have, the likelier first.
const COMPONENT_NAMES: [[&str; 3]; 14] = [
    ["u", "v", "w"],
    ["ux", "uy", "uz"],
    ["vx", "vy", "vz"],
    ["x velocity", "y velocity", "z velocity"],
    ["velocity_x", "velocity_y", "velocity_z"],
    ["x_velocity", "y_velocity", "z_velocity"],
    ["velocityx", "velocityy", "velocityz"],
    ["vozocrtx", "vomecrty", "vovecrtz"],
    ["uo", "vo", "wo"],
    ["uvel", "vvel", "wvel"],
    ["water_u", "water_v", "water_w"],
    ["u10", "v10", "w10"],
    ["u_velocity", "v_velocity", "w_velocity"],
    [
        "eastward_eulerian_current_velocity",
        "northward_eulerian_current_velocity",
        "upward_velocity",
    ],
];

impl VelocitySource {
    /// The arrays named, or if none is named those that are the velocity by their name, by what the file says
    /// of them, or because there is no other vector.
    ///
    /// # Errors
    ///
    /// [`VelocityError`] with the names to choose from.
    pub fn choose(contents: &[ArrayInfo], named: &[String]) -> Result<Self, VelocityError> {
        match named {
            [] => Self::guess(contents),
            [name] => {
                let info = find(contents, name)?;
                if info.components < 2 {
                    return Err(VelocityError::Scalar { name: name.clone() });
                }
                Ok(Self::Vector(info.name.clone()))
            }
            [_, _, _, _, ..] => Err(VelocityError::Names { names: named.len() }),
            _ => {
                let found = named.iter().map(|n| find(contents, n).map(|i| i.name.clone()));
                Ok(Self::Components(found.collect::<Result<_, _>>()?))
            }
        }
    }

    /// The names of the arrays.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Vector(name) => vec![name],
            Self::Components(names) => names.iter().map(String::as_str).collect(),
            Self::Momentum { momentum, density } => vec![momentum, density],
        }
    }

    fn guess(contents: &[ArrayInfo]) -> Result<Self, VelocityError> {
        let vectors: Vec<&ArrayInfo> = contents
            .iter()
            .filter(|i| matches!(i.components, 2 | 3) && !is_geometry(&i.name))
            .collect();
        let is = |info: &ArrayInfo, name: &str| info.name.eq_ignore_ascii_case(name);
        let known = VECTOR_NAMES.iter().find_map(|n| vectors.iter().find(|i| is(i, n)));
        if let Some(info) = known {
            return Ok(Self::Vector(info.name.clone()));
        }
        let of = |wanted: &str| contents.iter().find(|i| is(i, wanted) && i.components == 1);
        let momentum = vectors.iter().find(|i| is(i, "momentum") || is(i, "rhou"));
        if let (Some(momentum), Some(density)) = (momentum, of("density").or_else(|| of("rho"))) {
            let (momentum, density) = (momentum.name.clone(), density.name.clone());
            return Ok(Self::Momentum { momentum, density });
        }
        if let Some(found) = Self::components(contents) {
            return found;
        }
        let mut different: Vec<&str> = vectors.iter().map(|i| i.name.as_str()).collect();
        different.dedup();
        match different[..] {
            [] => Err(VelocityError::None { known: names(contents) }),
            [only] => Ok(Self::Vector(only.to_owned())),
            _ => Err(VelocityError::Several { known: different.join(", ") }),
        }
    }

    /// Two or three scalars that belong together.
    fn components(contents: &[ArrayInfo]) -> Option<Result<Self, VelocityError>> {
        let scalar = |test: &dyn Fn(&ArrayInfo) -> bool| {
            contents.iter().find(|i| i.components == 1 && test(i)).map(|i| i.name.clone())
        };
        let meaning = |word: &str| {
            scalar(&|i| {
                let meaning = i.meaning.as_deref().unwrap_or_default();
                meaning.starts_with(word) && meaning.ends_with("velocity")
            })
        };
        let mut half = None;
        let triples = COMPONENT_NAMES
            .iter()
            .map(|names| names.map(|n| scalar(&|i| i.name.eq_ignore_ascii_case(n))))
            .chain(
                [["eastward", "northward", "upward"], ["sea_water_x", "sea_water_y", "upward"]]
                    .map(|words| words.map(meaning)),
            );
        for triple in triples {
            match triple {
                [Some(u), Some(v), w] => {
                    let names = [u, v].into_iter().chain(w).collect();
                    return Some(Ok(Self::Components(names)));
                }
                [Some(one), None, _] | [None, Some(one), _] => half = half.or(Some(one)),
                _ => {}
            }
        }
        half.map(|name| Err(VelocityError::Half { name }))
    }
}

fn is_geometry(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("normal") || name == "points" || name.contains("coord") || name.contains("color")
}

fn find<'a>(contents: &'a [ArrayInfo], name: &str) -> Result<&'a ArrayInfo, VelocityError> {
    let exact = contents.iter().find(|i| i.name == name);
    exact
        .or_else(|| contents.iter().find(|i| i.name.eq_ignore_ascii_case(name)))
        .ok_or_else(|| VelocityError::Missing { name: name.to_owned(), known: names(contents) })
}

pub(super) fn names(contents: &[ArrayInfo]) -> String {
    let names: Vec<&str> = contents.iter().map(|i| i.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Array, Centering};

    fn info(name: &str, components: usize) -> ArrayInfo {
        Array::new(name, components, Centering::Point, Vec::new()).info
    }

    fn choose(contents: &[ArrayInfo]) -> Result<VelocitySource, VelocityError> {
        VelocitySource::choose(contents, &[])
    }

    #[test]
    fn velocity_is_found_by_name_and_kind() {
        let vector = |name: &str| Ok(VelocitySource::Vector(name.to_owned()));
        assert_eq!(choose(&[info("p", 1), info("flux", 3)]), vector("flux"));
        assert_eq!(choose(&[info("B", 3), info("Velocity", 3)]), vector("Velocity"));
        assert_eq!(choose(&[info("Normals", 3), info("flux", 3)]), vector("flux"));
        let parts =
            |n: &[&str]| Ok(VelocitySource::Components(n.iter().map(|&s| s.to_owned()).collect()));
        let cth = ["X Velocity", "Y Velocity", "Z Velocity"];
        assert_eq!(choose(&cth.map(|n| info(n, 1))), parts(&cth));
        assert_eq!(choose(&[info("uo", 1), info("vo", 1)]), parts(&["uo", "vo"]));
        let momentum = VelocitySource::Momentum {
            momentum: "Momentum".to_owned(),
            density: "Density".to_owned(),
        };
        assert_eq!(choose(&[info("Density", 1), info("Momentum", 3)]), Ok(momentum));
        let east =
            ArrayInfo { meaning: Some("eastward_sea_water_velocity".to_owned()), ..info("a", 1) };
        let north =
            ArrayInfo { meaning: Some("northward_sea_water_velocity".to_owned()), ..info("b", 1) };
        assert_eq!(choose(&[north, east]), parts(&["a", "b"]));
    }

    #[test]
    fn what_is_no_velocity_is_refused_with_the_names() {
        let none = choose(&[info("p", 1)]).unwrap_err().to_string();
        assert!(none.contains("there are: p"), "{none}");
        let several = choose(&[info("a", 3), info("b", 3)]).unwrap_err().to_string();
        assert!(several.contains("a, b"), "{several}");
        let half = choose(&[info("vozocrtx", 1)]).unwrap_err().to_string();
        assert!(half.contains("'vozocrtx' is one component"), "{half}");
        let scalar = VelocitySource::choose(&[info("p", 1)], &["p".to_owned()]);
        assert_eq!(scalar, Err(VelocityError::Scalar { name: "p".to_owned() }));
    }
}
