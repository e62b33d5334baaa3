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

/// The lists of modifiers that an asset has.
const STAGES: [&str; 3] = ["rest", "pose", "world"];

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut schema = Scene::schema(&Registry::default());
    if let Some(kind) = &args.kind {
        let list = |stage| format!("/properties/asset/items/properties/{stage}/items");
        let lists = STAGES.map(|stage| read::part(&schema, &list(stage)));
        let found = lists.iter().find_map(|list| read::kind(list, kind));
        schema = found.ok_or_else(|| unknown(kind, &lists))?;
    }
    shell::out(&serde_json::to_string_pretty(&read::published(&schema))?);
    Ok(ExitCode::SUCCESS)
}

fn unknown(kind: &str, lists: &[read::Schema]) -> anyhow::Error {
    let mut known: Vec<&str> = lists.iter().flat_map(read::kinds_of).collect();
    known.sort_unstable();
    known.dedup();
    let near =
        read::suggest(kind, &known).map_or(String::new(), |k| format!("did you mean '{k}'? "));
    anyhow::anyhow!("there is no kind of modifier '{kind}' ({near}known: {})", known.join(", "))
}
