//! What the environment decides.

use std::env;
use std::str::FromStr;

use cuda_emu::{Chains, Checks, Options};

use crate::error::{Result, invalid};

/// Most devices.
const DEVICES: u16 = 8;

/// How devices run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How a kernel is run.
    pub(crate) options: Options,
    /// How many devices there are.
    pub(crate) devices: u16,
    /// Whether work of streams waits until something synchronizes.
    pub(crate) delayed: bool,
    /// What is told of counters.
    pub(crate) counters: Tell,
}

/// Which counters go to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tell {
    Nothing,
    /// Those of each launch, when it has run.
    Launches,
    /// Those of each kernel, joined over its launches, when a context ends.
    Kernels,
}

impl Settings {
    /// From the environment. A value that means nothing is an error: a check that is misspelt would silently be off.
    pub(crate) fn from_environment() -> Result<Self> {
        Self::parse(|name| env::var(name).ok())
    }

    /// From a table of variables.
    pub(crate) fn parse(get: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let counters = match get("LOCKSTEP_EMU_COUNTERS").as_deref() {
            None | Some("none") => Tell::Nothing,
            Some("launches") => Tell::Launches,
            Some("kernels") => Tell::Kernels,
            Some(other) => {
                return Err(invalid!("LOCKSTEP_EMU_COUNTERS: `{other}` is none of `none`, `launches` and `kernels`"));
            }
        };
        let mut options = Options { counters: counters != Tell::Nothing, ..Options::default() };
        if let Some(value) = get("LOCKSTEP_EMU_CHECKS") {
            options.checks = checks(&value)?;
        }
        options.chains = match get("LOCKSTEP_EMU_CHAINS").as_deref() {
            None | Some("none") => None,
            Some("needs") => Some(Chains::NEEDS),
            Some("cycles") => Some(Chains::CYCLES),
            Some(other) => {
                return Err(invalid!("LOCKSTEP_EMU_CHAINS: `{other}` is none of `none`, `needs` and `cycles`"));
            }
        };
        options.seed = number("LOCKSTEP_EMU_SEED", get)?;
        options.step_limit = number("LOCKSTEP_EMU_STEPS", get)?;
        let delayed = match get("LOCKSTEP_EMU_ASYNC").as_deref() {
            None | Some("0") => false,
            Some("1") => true,
            Some(other) => return Err(invalid!("LOCKSTEP_EMU_ASYNC: `{other}` is neither 0 nor 1")),
        };
        let devices: u16 = number("LOCKSTEP_EMU_DEVICES", get)?.unwrap_or(1);
        if !(1..=DEVICES).contains(&devices) {
            return Err(invalid!("LOCKSTEP_EMU_DEVICES: {devices}, which isn't between 1 and {DEVICES}"));
        }
        Ok(Self { options, devices, delayed, counters })
    }
}

fn number<T: FromStr>(name: &str, get: impl Fn(&str) -> Option<String>) -> Result<Option<T>> {
    get(name).map(|value| value.parse().map_err(|_| invalid!("{name}: `{value}` is no number"))).transpose()
}

fn checks(value: &str) -> Result<Checks> {
    let mut checks = Checks::NONE;
    for word in value.split(',') {
        match word.trim() {
            "all" => checks = Checks::ALL,
            "none" => {}
            "races" => checks.races = true,
            "uninitialised" => checks.uninitialised = true,
            other => return Err(invalid!("LOCKSTEP_EMU_CHECKS: there is no check `{other}`")),
        }
    }
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, value: &str) -> Result<Settings> {
        Settings::parse(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn nothing_set_means_all_checks_at_once() {
        let settings = Settings::parse(|_| None).unwrap();
        assert_eq!(settings.options.checks, Checks::ALL);
        assert_eq!((settings.options.chains, settings.devices), (None, 1));
        assert_eq!((settings.options.seed, settings.options.step_limit, settings.delayed), (None, None, false));
    }

    #[test]
    fn each_variable_has_its_effect() {
        let races = Checks { races: true, uninitialised: false };
        assert_eq!(parse("LOCKSTEP_EMU_CHECKS", "races").unwrap().options.checks, races);
        assert_eq!(parse("LOCKSTEP_EMU_CHECKS", "none").unwrap().options.checks, Checks::NONE);
        assert_eq!(parse("LOCKSTEP_EMU_CHECKS", "races, uninitialised").unwrap().options.checks, Checks::ALL);
        assert_eq!(parse("LOCKSTEP_EMU_SEED", "7").unwrap().options.seed, Some(7));
        assert_eq!(parse("LOCKSTEP_EMU_STEPS", "1000").unwrap().options.step_limit, Some(1000));
        assert_eq!(parse("LOCKSTEP_EMU_DEVICES", "8").unwrap().devices, 8);
        assert!(parse("LOCKSTEP_EMU_ASYNC", "1").unwrap().delayed);
        assert_eq!(parse("LOCKSTEP_EMU_CHAINS", "needs").unwrap().options.chains, Some(Chains::NEEDS));
        assert_eq!(parse("LOCKSTEP_EMU_CHAINS", "cycles").unwrap().options.chains, Some(Chains::CYCLES));
        let settings = parse("LOCKSTEP_EMU_COUNTERS", "kernels").unwrap();
        assert_eq!((settings.counters, settings.options.counters), (Tell::Kernels, true));
        assert_eq!(parse("LOCKSTEP_EMU_COUNTERS", "launches").unwrap().counters, Tell::Launches);
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        for (name, value) in [
            ("LOCKSTEP_EMU_CHECKS", "race"),
            ("LOCKSTEP_EMU_SEED", "x"),
            ("LOCKSTEP_EMU_STEPS", "-1"),
            ("LOCKSTEP_EMU_ASYNC", "yes"),
            ("LOCKSTEP_EMU_COUNTERS", "1"),
            ("LOCKSTEP_EMU_CHAINS", "1"),
            ("LOCKSTEP_EMU_DEVICES", "0"),
            ("LOCKSTEP_EMU_DEVICES", "9"),
            ("LOCKSTEP_EMU_DEVICES", "-1"),
        ] {
            assert!(parse(name, value).unwrap_err().to_string().contains(name));
        }
    }
}
