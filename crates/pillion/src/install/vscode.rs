//! VS Code, its forks and Positron: the agents' own extensions, by the editor's own command line.
//!
//! Pillion has no extension of its own for them: the agents' makers have, one for each agent.

mod editors;

use std::fs;
use std::path::PathBuf;

use pillion_protocol::Dialect;
use serde::Deserialize;

pub use self::editors::*;
use super::machine::{Machine, Platform, is_program};
use super::plan::{Plan, Proof, Step};
use super::{Found, Installer, Options};
use crate::failure::{Failure, Kind};

/// An extension of an agent's maker.
#[derive(Debug)]
struct Extension {
    agent: Dialect,
    id: &'static str,
}

const EXTENSIONS: [Extension; 2] = [
    Extension {
        agent: Dialect::GeminiCli,
        id: "google.gemini-cli-vscode-ide-companion",
    },
    Extension {
        agent: Dialect::QwenCode,
        id: "qwenlm.qwen-code-vscode-ide-companion",
    },
];

const NEXT: &str = "Then start the agent in the editor's terminal, and type `/ide enable` in it.";

/// More than an editor's list of extensions has.
const MAX_LIST: u64 = 16 << 20;

impl Installer for Code {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn display_name(&self) -> &'static str {
        self.display_name
    }

    fn find(&self, machine: &Machine) -> Found {
        let installed = self.listed(machine).unwrap_or_default();
        let ours = installed.iter().filter_map(|listed| {
            let is_it = |extension: &&Extension| extension.id.eq_ignore_ascii_case(&listed.id);
            let extension = EXTENSIONS.iter().find(is_it)?;
            let version = listed.version.as_deref().unwrap_or_default();
            Some(
                format!("{} {version}", what(extension))
                    .trim_end()
                    .to_owned(),
            )
        });
        Found {
            program: self.program(machine),
            installed: ours.collect(),
        }
    }

    fn install(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        let program = self.required(machine)?;
        let chosen = EXTENSIONS.iter().filter(|it| is_wanted(it, options));
        let steps = chosen.map(|extension| Step::Run {
            program: program.clone(),
            // Over an older one, too.
            arguments: ["--install-extension", extension.id, "--force"]
                .map(str::to_owned)
                .to_vec(),
            what: what(extension),
            proof: Some(Proof {
                arguments: &["--list-extensions"],
                line: extension.id,
            }),
        });
        Ok(Plan {
            steps: steps.collect(),
            next: Some(NEXT),
            ..Plan::default()
        })
    }

    fn uninstall(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        let program = self.required(machine)?;
        let listed = self.listed(machine);
        let mut plan = Plan::default();
        for extension in EXTENSIONS.iter().filter(|it| is_wanted(it, options)) {
            let is_it = |listed: &Listed| extension.id.eq_ignore_ascii_case(&listed.id);
            if listed
                .as_ref()
                .is_some_and(|listed| !listed.iter().any(is_it))
            {
                plan.notes
                    .push(format!("{} is not installed", what(extension)));
                continue;
            }
            plan.steps.push(Step::Run {
                program: program.clone(),
                arguments: ["--uninstall-extension", extension.id]
                    .map(str::to_owned)
                    .to_vec(),
                what: what(extension),
                proof: None,
            });
        }
        if plan.steps.is_empty() {
            let message = format!("{} has no extension of an agent", self.display_name);
            return Err(Failure::new(Kind::Refused, message)
                .hint("`pillion install --list` shows what is installed.")
                .into());
        }
        Ok(plan)
    }
}

impl Code {
    /// Its program, or why there is none.
    fn required(&self, machine: &Machine) -> anyhow::Result<PathBuf> {
        self.program(machine).ok_or_else(|| {
            let ids = EXTENSIONS.map(|extension| extension.id).join(" and ");
            let message = format!("{} was not found", self.display_name);
            let hint = format!(
                "Put its command `{}` on PATH, or install these extensions in the editor: {ids}.",
                self.programs[0]
            );
            Failure::new(Kind::Refused, message).hint(hint).into()
        })
    }

    /// Its program: on PATH, else in the usual places.
    fn program(&self, machine: &Machine) -> Option<PathBuf> {
        if self
            .only_with
            .is_some_and(|name| machine.environment.filled(name).is_none())
        {
            return None;
        }
        let named = self.alias_variable.and_then(|name| machine.variable(name));
        let named = named.as_ref().and_then(|path| path.to_str());
        // A path of its own would be run from wherever it leads: only a name is looked for.
        let named = named.filter(|name| !name.contains(['/', '\\']));
        let names: Vec<_> = named
            .into_iter()
            .chain(self.programs.iter().copied())
            .collect();
        machine.program(&names).or_else(|| {
            self.places(machine)
                .into_iter()
                .find(|place| is_program(place))
        })
    }

    /// The usual places of its program, which is not always on PATH.
    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let home = machine.home();
        let mut places = Vec::new();
        for program in self.programs.iter().filter(|_| self.only_with.is_none()) {
            match machine.platform {
                Platform::Linux => {
                    places.push(format!("/usr/share/{program}/bin/{program}").into());
                    places.push(format!("/opt/{program}/bin/{program}").into());
                    places.push(format!("/snap/bin/{program}").into());
                    let own = format!(".local/share/{program}/bin/{program}");
                    places.extend(home.as_ref().map(|home| home.join(own)));
                }
                Platform::Mac => {
                    let inside = "Contents/Resources/app/bin";
                    let app = format!("Applications/{}.app/{inside}/{program}", self.application);
                    places.push(format!("/{app}").into());
                    places.extend(home.as_ref().map(|home| home.join(app)));
                }
                Platform::Windows => {
                    let all = machine.variable("ProgramFiles");
                    let all = all.unwrap_or_else(|| r"C:\Program Files".into());
                    let local = machine
                        .variable("LOCALAPPDATA")
                        .or_else(|| Some(machine.join(home.as_ref()?, "AppData/Local")));
                    let own = local.map(|local| machine.join(local, "Programs"));
                    for folder in [Some(all), own].into_iter().flatten() {
                        for bin in ["bin", "resources/app/bin"] {
                            let file = format!("{}/{bin}/{program}.cmd", self.windows_folder);
                            places.push(machine.join(&folder, &file));
                        }
                    }
                }
            }
        }
        if machine.platform == Platform::Linux
            && let Some(package) = self.flatpak
        {
            let below = format!("flatpak/exports/bin/{package}");
            places.push(format!("/var/lib/{below}").into());
            let own = format!(".local/share/{below}");
            places.extend(home.map(|home| home.join(own)));
        }
        places
    }

    /// The extensions that it has, from its own list; nothing if there is no list to read.
    fn listed(&self, machine: &Machine) -> Option<Vec<Listed>> {
        let home = machine.home().filter(|_| !self.extensions.is_empty())?;
        let list = format!("{}/extensions/extensions.json", self.extensions);
        let list = machine.join(home, &list);
        let data = fs::metadata(&list).ok()?;
        if !data.is_file() || data.len() > MAX_LIST {
            return None;
        }
        let entries: Vec<Entry> = serde_json::from_slice(&fs::read(list).ok()?).ok()?;
        let listed = entries.into_iter().map(|entry| Listed {
            id: entry.identifier.id,
            version: entry.version,
        });
        Some(listed.collect())
    }
}

/// An extension that an editor has.
#[derive(Debug)]
struct Listed {
    id: String,
    version: Option<String>,
}

/// As it stands in the editor's own list.
#[derive(Debug, Deserialize)]
struct Entry {
    identifier: Identifier,
    version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Identifier {
    id: String,
}

fn is_wanted(extension: &Extension, options: &Options) -> bool {
    options.agent.is_none_or(|agent| agent == extension.agent)
}

/// For people.
fn what(extension: &Extension) -> String {
    format!("{}'s extension", extension.agent.display_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(editor: &Code, platform: Platform, variables: &[(&str, &str)]) -> Vec<String> {
        let places = editor.places(&Machine::of(platform, variables));
        places
            .into_iter()
            .map(|place| place.into_os_string().into_string().unwrap())
            .collect()
    }

    #[test]
    fn linux_has_its_places() {
        let home = [("HOME", "/h")];
        let expected = [
            "/usr/share/positron/bin/positron",
            "/opt/positron/bin/positron",
            "/snap/bin/positron",
            "/h/.local/share/positron/bin/positron",
        ];
        assert_eq!(places(&POSITRON, Platform::Linux, &home), expected);
        let of_code = places(&VS_CODE, Platform::Linux, &home);
        assert_eq!(of_code[0], "/usr/share/code/bin/code");
        assert_eq!(
            of_code[4],
            "/var/lib/flatpak/exports/bin/com.visualstudio.code"
        );
        assert_eq!(
            of_code[5],
            "/h/.local/share/flatpak/exports/bin/com.visualstudio.code"
        );
        assert!(places(&FIREBASE_STUDIO, Platform::Linux, &home).is_empty());
    }

    #[test]
    fn a_mac_has_its_places() {
        let app = "Applications/Visual Studio Code.app/Contents/Resources/app/bin/code";
        let expected = [format!("/{app}"), format!("/h/{app}")];
        assert_eq!(places(&VS_CODE, Platform::Mac, &[("HOME", "/h")]), expected);
        let of_antigravity = places(&ANTIGRAVITY, Platform::Mac, &[("HOME", "/h")]);
        let bin = "/Applications/Antigravity.app/Contents/Resources/app/bin";
        assert_eq!(of_antigravity[0], format!("{bin}/antigravity"));
        assert_eq!(of_antigravity[2], format!("{bin}/agy"));
    }

    #[test]
    fn windows_has_its_places() {
        let variables = [
            ("USERPROFILE", r"C:\Users\me"),
            ("ProgramFiles", r"D:\Programs"),
            ("LOCALAPPDATA", r"E:\Local"),
        ];
        let expected = [
            r"D:\Programs\Microsoft VS Code\bin\code.cmd",
            r"D:\Programs\Microsoft VS Code\resources\app\bin\code.cmd",
            r"E:\Local\Programs\Microsoft VS Code\bin\code.cmd",
            r"E:\Local\Programs\Microsoft VS Code\resources\app\bin\code.cmd",
        ];
        assert_eq!(places(&VS_CODE, Platform::Windows, &variables), expected);
        let fewer = places(&CURSOR, Platform::Windows, &variables[..1]);
        assert_eq!(fewer[0], r"C:\Program Files\cursor\bin\cursor.cmd");
        let own = r"C:\Users\me\AppData\Local\Programs\cursor\resources\app\bin\cursor.cmd";
        assert_eq!(fewer[3], own);
    }
}
