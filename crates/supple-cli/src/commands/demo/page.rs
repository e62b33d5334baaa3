//! One HTML page that holds the pictures with the reports.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use super::Played;

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Supple</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #f4f4f5; margin: 0 auto;
         max-width: 70rem; padding: 2rem 1rem; }
  h1 { font-weight: 300; letter-spacing: 0.02em; }
  section { background: #fff; border-radius: 8px; padding: 1.5rem; margin: 2rem 0;
            box-shadow: 0 1px 4px #0002; }
  h2 { font-weight: 400; margin: 3rem 0 0; }
  h3 { margin-top: 0; }
  img { max-width: 100%; border-radius: 4px; }
  table { border-collapse: collapse; }
  td { padding: 0.15rem 1.5rem 0.15rem 0; vertical-align: top; }
  td:first-child { color: #777; }
</style>
<h1>Supple: what these scenes gave</h1>
"#;

/// Writes the page; files are named relative to its folder, so that the folder can be moved.
pub(super) fn write(path: &Path, played: &[Played]) -> anyhow::Result<()> {
    let mut html = HEAD.to_owned();
    let mut part = "";
    for one in played {
        if one.part != part {
            part = one.part;
            html.push_str(&format!("<h2>{part}</h2>\n"));
        }
        // Writing to a string cannot fail.
        let _ = section(&mut html, one);
    }
    html.push_str("</html>\n");
    supple::io::save(path, |out| out.write_all(html.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn section(html: &mut String, played: &Played) -> std::fmt::Result {
    writeln!(html, "<section>\n<h3>{}</h3>\n<p>{}</p>", played.demo, played.what)?;
    if let Some(picture) = &played.picture {
        writeln!(html, "<img src=\"{}\" alt=\"{}\">", address(picture), played.what)?;
    }
    writeln!(html, "<table>")?;
    let mut row =
        |what: &str, value: &str| writeln!(html, "<tr><td>{what}</td><td>{value}</td></tr>");
    row("frames", &played.frames.to_string())?;
    row("triangles", &played.triangles.to_string())?;
    for body in &played.bodies {
        row(&escaped(&body.body), &escaped(&body.to_string()))?;
    }
    for note in &played.notes {
        row("note", &escaped(note))?;
    }
    let link = |file: &Path| format!("<a href=\"{}\">{}</a>", address(file), name(file));
    let links: Vec<_> = played.files.iter().map(|file| link(file)).collect();
    row("files", &links.join(", "))?;
    writeln!(html, "</table>\n</section>")
}

/// Words with nothing in them that HTML would take for its own.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// The name of a file as HTML shows it.
fn name(file: &Path) -> String {
    escaped(&file.file_name().unwrap_or_default().to_string_lossy())
}

/// The name of a file as a link names it: all but the plainest letters by their bytes.
fn address(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    name.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_is_no_html() {
        let file = Path::new("out/a\"><script>&'.glb");
        assert_eq!(name(file), "a&quot;&gt;&lt;script&gt;&amp;&#39;.glb");
        assert_eq!(address(file), "a%22%3E%3Cscript%3E%26%27.glb");
        assert_eq!(address(Path::new("fox.0001.ply")), "fox.0001.ply");
    }
}
