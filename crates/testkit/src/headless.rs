//! Agents that the tests run without a terminal alone: Kimi Code and Mistral Vibe. They open no session, so that only their hooks
//! are of interest.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Env, HEADLESS_PROMPT, Home, Model, Npm};

/// The variable that holds the folder of Mistral Vibe.
const VIBES_PLACE: &str = "PILLION_TEST_VIBE";

/// Such an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headless {
    /// Kimi Code 2.1.0.
    Kimi,
    /// Mistral Vibe 3.0.2.
    Vibe,
}

impl Headless {
    /// `base` with what makes it ask nobody but its model, and with its command on PATH.
    pub fn env(self, base: Env) -> Env {
        let mut env = base;
        match self {
            Headless::Kimi => {
                Npm::from_env().add_to(&mut env);
                env.with("KIMI_CODE_NO_AUTO_UPDATE", "1")
            }
            Headless::Vibe => {
                env.prepend_path(vibe().parent().expect("it is in a folder"));
                env
            }
        }
    }

    /// Makes the stand-in model the one that this person's agent asks.
    pub fn set_up(self, home: &Home, model: &Model) {
        let url = format!("{}/v1", model.url());
        let (file, settings) = match self {
            Headless::Kimi => (
                ".kimi-code/config.toml",
                format!(
                    "default_model = \"fake\"\n\n[providers.test]\ntype = \"openai\"\nbase_url = \"{url}\"\napi_key = \"none\"\n\n\
                     [models.fake]\nprovider = \"test\"\nmodel = \"fake\"\nmax_context_size = 100000\n"
                ),
            ),
            Headless::Vibe => (
                ".vibe/config.toml",
                format!(
                    "active_model = \"fake\"\nenable_telemetry = false\nenable_update_checks = false\n\
                     enable_auto_update = false\n\n[[providers]]\nname = \"test\"\napi_base = \"{url}\"\n\
                     api_key_env_var = \"\"\nbackend = \"generic\"\n\n\
                     [[models]]\nname = \"fake\"\nprovider = \"test\"\nalias = \"fake\"\n"
                ),
            ),
        };
        let file = home.home().join(file);
        let folder = file.parent().expect("it is in a folder");
        fs::create_dir_all(folder).expect("the home is ours");
        // Kimi Code has its hooks in the same file.
        let hooks = fs::read_to_string(&file).unwrap_or_default();
        let own = hooks.find("[[hooks]]").map_or("", |at| &hooks[at..]);
        fs::write(&file, format!("{settings}\n{own}")).expect("the home is ours");
    }

    /// The command line of one that makes all changes without asking, prints its answer and ends.
    pub fn print(self) -> Vec<String> {
        let (command, modes) = match self {
            Headless::Kimi => (Npm::from_env().bin().join("kimi"), &[][..]),
            Headless::Vibe => (vibe(), &["--auto-approve", "--trust"][..]),
        };
        let command = command.display().to_string();
        let words = ["-p", HEADLESS_PROMPT].iter().chain(modes);
        let words = words.map(|word| (*word).to_owned());
        [command].into_iter().chain(words).collect()
    }
}

/// The command of Mistral Vibe.
fn vibe() -> PathBuf {
    let folder = std::env::var_os(VIBES_PLACE).unwrap_or_else(|| {
        panic!(
            "{VIBES_PLACE} is not set: run this test through `cargo xtask test`, which installs Mistral Vibe; the words \
             \"Mistral Vibe\" in what it is ignored for ask for that"
        )
    });
    Path::new(&folder).join("bin/vibe")
}
