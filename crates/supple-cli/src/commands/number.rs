//! Numbers of the command line: every one that is given is a number.

use std::str::FromStr;

/// A finite number: what every numeric option is read by.
///
/// Rust's own parser takes `nan` and `inf` for numbers, and an option that is compared with a bound lets
/// a NaN through.
pub(crate) fn number<T: FromStr + Into<f64> + Copy>(text: &str) -> Result<T, String> {
    let found = text.trim().parse::<T>().ok().filter(|&x| x.into().is_finite());
    found.ok_or_else(|| format!("'{text}' is not a number; write one like 1.5"))
}

#[cfg(test)]
mod tests {
    use clap::builder::AnyValueId;
    use clap::error::ErrorKind;
    use clap::{Command, CommandFactory as _};

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn nonsense_is_no_number() {
        assert_eq!(number::<f32>("1.5"), Ok(1.5));
        assert_eq!(number::<f64>(" -2e3 "), Ok(-2000.0));
        for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e39", "", "1,5", "0x10"] {
            assert!(number::<f32>(text).is_err(), "{text}");
        }
        assert!(number::<f64>("1e400").is_err(), "overflows");
    }

    /// Every option of every command, those to come too.
    #[test]
    fn no_option_takes_nan_for_a_number() {
        let mut tried = 0;
        for command in Cli::command().get_subcommands() {
            for option in numeric(command) {
                for value in ["nan", "inf"] {
                    let words = ["supple", command.get_name(), &format!("--{option}={value}")];
                    let error = Cli::command().try_get_matches_from(words).unwrap_err();
                    let kind = error.kind();
                    let refused =
                        matches!(kind, ErrorKind::ValueValidation | ErrorKind::InvalidValue);
                    assert!(refused, "{words:?}: read it with commands::number ({kind:?})");
                    tried += 1;
                }
            }
        }
        assert!(tried >= 8, "only {tried}");
    }

    fn numeric(command: &Command) -> Vec<String> {
        let floats = [AnyValueId::of::<f32>(), AnyValueId::of::<f64>()];
        command
            .get_arguments()
            .filter(|arg| floats.contains(&arg.get_value_parser().type_id()))
            .filter_map(|arg| arg.get_long().map(str::to_owned))
            .collect()
    }
}
