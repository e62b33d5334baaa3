//! What a URI in an asset or a scene may name: data within the document, or a file in its folder.
//!
//! A document comes from anywhere, so a name in it is not trusted. A relative path that stays in
//! the folder of the document is opened; one that leaves it (`..`, an absolute path, a symbolic
//! link that points elsewhere) is refused unless [`Policy::AllowOutside`] is set. Network schemes
//! are never fetched.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::inputs;

/// Which files a URI may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Only files in the document's folder and the folders below it.
    #[default]
    FolderOnly,
    /// Any file of this machine.
    AllowOutside,
}

/// Why a URI gave no data.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The path leaves the folder of the document.
    #[error("'{uri}' leaves the folder of the file that names it")]
    Outside {
        /// The URI as written.
        uri: String,
    },
    /// The URI names a scheme that is not opened.
    #[error("'{uri}' names the scheme '{scheme}:', and only files are opened, never the network")]
    Scheme {
        /// The URI as written, shortened.
        uri: String,
        /// Its scheme.
        scheme: String,
    },
    /// The URI is not well formed.
    #[error("'{uri}' is not a well-formed URI: {why}")]
    BadUri {
        /// The URI as written, shortened.
        uri: String,
        /// What is wrong with it.
        why: String,
    },
    /// The operating system refused.
    #[error("cannot read {path}: {source}", path = path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl FetchError {
    /// True if the URI was refused for what it names, whatever is there.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Outside { .. } | Self::Scheme { .. })
    }

    /// What the person can do about it.
    #[must_use]
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Outside { .. } => {
                "put the file beside the document, or allow files outside its folder (--allow-outside)"
            }
            Self::Scheme { .. } => "download it, put it beside the document and name it there",
            Self::BadUri { .. } => "export the file again",
            Self::Io { .. } => "put the missing file where the document names it",
        }
    }
}

/// The file that `uri` names in a document of `folder`.
///
/// # Errors
///
/// [`FetchError`] if the URI is malformed, names what `policy` does not allow, or there is no such
/// file.
pub fn resolve(folder: &Path, uri: &str, policy: Policy) -> Result<PathBuf, FetchError> {
    let path = match scheme(uri) {
        Some("file") if policy == Policy::AllowOutside => file_path(uri)?,
        Some(scheme) => {
            return Err(FetchError::Scheme { uri: shortened(uri), scheme: scheme.to_owned() });
        }
        None => percent_decoded_path(uri, uri)?,
    };
    resolve_path(folder, &path, policy)
}

/// The file that the path `path` names in a document of `folder`: as [`resolve`], for documents that write names
/// of files as they are.
///
/// # Errors
///
/// As [`resolve`].
pub fn resolve_path(folder: &Path, path: &Path, policy: Policy) -> Result<PathBuf, FetchError> {
    let outside = || FetchError::Outside { uri: shortened(&path.to_string_lossy()) };
    if policy == Policy::FolderOnly && leaves(path) {
        return Err(outside());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let named = folder.join(path);
    let failed = |source| FetchError::Io { path: named.clone(), source };
    let real = named.canonicalize().map_err(failed)?;
    if policy == Policy::FolderOnly && !real.starts_with(folder.canonicalize().map_err(failed)?) {
        return Err(outside());
    }
    if !real.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("not a regular file")));
    }
    Ok(real)
}

/// Reads what the URIs of a document in `folder` name.
pub fn fetcher(folder: &Path, policy: Policy) -> impl Fn(&str) -> Result<Vec<u8>, FetchError> {
    let folder = folder.to_owned();
    move |uri| {
        if let Some(data) = data(uri) {
            return data;
        }
        let path = resolve(&folder, uri, policy)?;
        inputs::remember(&path);
        inputs::read(&path).map_err(|source| FetchError::Io { path, source })
    }
}

/// Fetches nothing: for a document that came without a folder.
///
/// # Errors
///
/// Always, except for a `data:` URI.
pub fn no_folder(uri: &str) -> Result<Vec<u8>, FetchError> {
    data(uri).unwrap_or_else(|| Err(FetchError::Outside { uri: shortened(uri) }))
}

/// The bytes of a `data:` URI; `None` if `uri` is not one.
#[must_use]
pub fn data(uri: &str) -> Option<Result<Vec<u8>, FetchError>> {
    if scheme(uri) != Some("data") {
        return None;
    }
    let bad = |why: String| FetchError::BadUri { uri: shortened(uri), why };
    let Some((head, body)) = uri.split_once(',') else {
        return Some(Err(bad("a data URI needs a comma before the data".to_owned())));
    };
    if head.ends_with(";base64") {
        return Some(BASE64.decode(body.trim_end()).map_err(|e| bad(e.to_string())));
    }
    Some(percent_decoded(body).map_err(bad))
}

/// Standard base64 that does not mind missing padding: some exporters leave it out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The scheme before the colon; one letter is a drive, not a scheme.
fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let mut letters = scheme.chars();
    let named = letters.next()?.is_ascii_alphabetic()
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    (named && scheme.len() > 1).then_some(scheme)
}

/// The path of a `file:` URI.
fn file_path(uri: &str) -> Result<PathBuf, FetchError> {
    let rest = uri.strip_prefix("file:").unwrap_or(uri);
    let path = match rest.strip_prefix("//") {
        Some(with_host) => with_host.strip_prefix("localhost").unwrap_or(with_host),
        None => rest,
    };
    if rest.starts_with("//") && !path.starts_with('/') {
        return Err(FetchError::Scheme { uri: shortened(uri), scheme: "file".to_owned() });
    }
    percent_decoded_path(path, uri)
}

/// Decodes `%20` and the like; a backslash counts as a slash, as exporters on Windows write it.
fn percent_decoded_path(path: &str, uri: &str) -> Result<PathBuf, FetchError> {
    let bad = |why: String| FetchError::BadUri { uri: shortened(uri), why };
    let bytes = percent_decoded(path).map_err(bad)?;
    let text = String::from_utf8(bytes).map_err(|e| bad(e.to_string()))?.replace('\\', "/");
    if text.is_empty() || text.contains('\0') {
        return Err(bad("it names no file".to_owned()));
    }
    Ok(PathBuf::from(text))
}

fn percent_decoded(text: &str) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let digits = tail.get(..2).and_then(|d| std::str::from_utf8(d).ok());
        let byte = digits.and_then(|d| u8::from_str_radix(d, 16).ok());
        decoded.push(byte.ok_or("'%' without two hexadecimal digits")?);
        rest = &tail[2..];
    }
    Ok(decoded)
}

/// True if following the names of `path` one by one ever steps above where it starts.
fn leaves(path: &Path) -> bool {
    use std::path::Component;
    let mut depth = 0_i64;
    for component in path.components() {
        match component {
            Component::Normal(name) => {
                // A drive letter is an ordinary name elsewhere; refuse it everywhere.
                if name.to_string_lossy().contains(':') && depth == 0 {
                    return true;
                }
                depth += 1;
            }
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

/// The beginning of a URI: a data URI can be megabytes long.
fn shortened(uri: &str) -> String {
    const SHOWN: usize = 80;
    match uri.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &uri[..end]),
        None => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder_with_a_file() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("asset");
        fs::create_dir_all(folder.join("sub dir")).unwrap();
        fs::write(folder.join("sub dir/a.bin"), b"inside").unwrap();
        fs::write(root.path().join("secret.bin"), b"outside").unwrap();
        (root, folder)
    }

    #[test]
    fn a_file_in_the_folder_is_read() {
        let (_root, folder) = folder_with_a_file();
        let fetch = fetcher(&folder, Policy::FolderOnly);
        for uri in ["sub%20dir/a.bin", "sub dir/a.bin", "./sub dir/../sub%20dir\\a.bin"] {
            assert_eq!(fetch(uri).unwrap(), b"inside", "{uri}");
        }
    }

    #[test]
    fn what_leaves_the_folder_is_refused() {
        let (root, folder) = folder_with_a_file();
        let absolute = root.path().join("secret.bin");
        for uri in
            ["../secret.bin", "%2e%2e/secret.bin", "..\\secret.bin", "sub dir/../../secret.bin"]
        {
            let error = fetcher(&folder, Policy::FolderOnly)(uri).unwrap_err();
            assert!(matches!(error, FetchError::Outside { .. }), "{uri}: {error}");
            assert_eq!(fetcher(&folder, Policy::AllowOutside)(uri).unwrap(), b"outside", "{uri}");
        }
        let uri = absolute.to_str().unwrap();
        assert!(fetcher(&folder, Policy::FolderOnly)(uri).unwrap_err().is_refusal(), "{uri}");
        assert_eq!(fetcher(&folder, Policy::AllowOutside)(uri).unwrap(), b"outside");
        let uri = format!("file://{uri}");
        assert!(fetcher(&folder, Policy::FolderOnly)(&uri).unwrap_err().is_refusal(), "{uri}");
        assert_eq!(fetcher(&folder, Policy::AllowOutside)(&uri).unwrap(), b"outside");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_refused() {
        let (root, folder) = folder_with_a_file();
        std::os::unix::fs::symlink(root.path().join("secret.bin"), folder.join("link")).unwrap();
        let error = fetcher(&folder, Policy::FolderOnly)("link").unwrap_err();
        assert!(matches!(error, FetchError::Outside { .. }), "{error}");
        assert_eq!(fetcher(&folder, Policy::AllowOutside)("link").unwrap(), b"outside");
    }

    #[test]
    fn the_network_is_never_asked() {
        let (_root, folder) = folder_with_a_file();
        for uri in ["http://example.org/a.bin", "https:a.bin", "ftp://x/y", "file://host/share/a"] {
            for policy in [Policy::FolderOnly, Policy::AllowOutside] {
                let error = fetcher(&folder, policy)(uri).unwrap_err();
                assert!(matches!(error, FetchError::Scheme { .. }), "{uri}: {error}");
            }
        }
    }

    #[test]
    fn a_missing_file_and_a_folder_say_so() {
        let (_root, folder) = folder_with_a_file();
        for uri in ["nowhere.bin", "sub dir"] {
            let error = fetcher(&folder, Policy::FolderOnly)(uri).unwrap_err();
            assert!(matches!(error, FetchError::Io { .. }), "{uri}: {error}");
        }
    }

    #[test]
    fn data_uris_are_decoded() {
        assert_eq!(
            data("data:application/octet-stream;base64,AAECAw==").unwrap().unwrap(),
            [0, 1, 2, 3]
        );
        assert_eq!(data("data:;base64,AAECAw").unwrap().unwrap(), [0, 1, 2, 3]);
        assert_eq!(data("data:text/plain,a%20b").unwrap().unwrap(), b"a b");
        assert!(data("a.bin").is_none(), "a file name is not data");
        assert!(data("data:;base64,*").unwrap().is_err(), "not base64");
        assert!(data("data:text/plain").unwrap().is_err(), "no comma");
        assert!(data("data:,%zz").unwrap().is_err(), "bad percent");
    }
}
