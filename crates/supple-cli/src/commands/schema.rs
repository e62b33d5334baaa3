//! `supple schema`: the scene format, for editors.

use std::process::ExitCode;

use supple::modifier::{Registry, read};
use supple::scene::Scene;

use crate::shell;

/// Print the scene format as a JSON schema, for editors
///
/// An editor with a TOML language server completes keys and shows what they mean: write
/// `#:schema ./scene.schema.json` in the first line of a scene, after
/// `supple schema > scene.schema.json`
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// One kind of modifier alone
    #[arg(value_name = "KIND")]
    kind: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut schema = Scene::schema(&Registry::default());
    if let Some(kind) = &args.kind {
        let modifiers = read::part(&schema, "/properties/asset/items/properties/modifier/items");
        schema = read::kind(&modifiers, kind).ok_or_else(|| unknown(kind, &modifiers))?;
    }
    shell::out(&serde_json::to_string_pretty(&read::published(&schema))?);
    Ok(ExitCode::SUCCESS)
}

fn unknown(kind: &str, modifiers: &read::Schema) -> anyhow::Error {
    let known = read::kinds_of(modifiers);
    let near =
        read::suggest(kind, &known).map_or(String::new(), |k| format!("did you mean '{k}'? "));
    anyhow::anyhow!("there is no kind of modifier '{kind}' ({near}known: {})", known.join(", "))
}
