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
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

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

    /// Every option of every command, those to come too: one that takes a number, but not a word, does not
    /// take `nan` or `inf`.
    #[test]
    fn no_option_takes_nan_for_a_number() {
        let mut tried = 0;
        for command in Cli::command().get_subcommands() {
            for option in command.get_arguments().filter_map(|arg| arg.get_long()) {
                let takes = |value: &str| {
                    let words = ["supple", command.get_name(), &format!("--{option}={value}")];
                    let refused = Cli::command().try_get_matches_from(words).err();
                    let kind = refused.map(|error| error.kind());
                    !matches!(kind, Some(ErrorKind::ValueValidation | ErrorKind::InvalidValue))
                };
                if takes("0.5") && !takes("word") {
                    let both = ["nan", "inf"].map(takes);
                    let name = command.get_name();
                    assert_eq!(
                        both, [false; 2],
                        "{name} --{option}: read it with commands::number"
                    );
                    tried += 1;
                }
            }
        }
        assert!(tried >= 8, "only {tried}");
    }
}
