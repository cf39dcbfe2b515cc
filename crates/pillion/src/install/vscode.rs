//! VS Code, its forks and Positron: Pillion's own extension, which this program holds, or those of the agents' makers, one
//! for each agent; by the editor's own command line.

mod change;
pub mod vsix;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use pillion_discovery::{canonicalize, regular_file};
use pillion_protocol::Dialect;
use pillion_system::is_program;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::change::Change;
use super::machine::{Machine, Platform};
use super::{Found, Installer, Options, Plan, Step, package};
use crate::failure::{Failure, Kind};

/// VS Code and the editors that are made of it, in the order in which they are listed.
static FAMILY: LazyLock<Vec<Code>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("vscode/editors.json")).expect("the table is built in")
});

/// One editor of VS Code's family.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Code {
    names: Vec<&'static str>,
    display_name: &'static str,
    /// Its programs, as typed; the first names its folders on Linux.
    programs: Vec<&'static str>,
    /// A variable that names its program.
    alias_variable: Option<&'static str>,
    application: Option<&'static str>,
    /// Its folder in a Mac user's Library, where its command may be.
    support_folder: Option<&'static str>,
    /// Its folder on Windows.
    windows_folder: Option<&'static str>,
    /// Its package at Flathub.
    flatpak: Option<&'static str>,
    /// The folder of its extensions, below the home folder, unless it names one itself.
    extensions: Option<&'static str>,
    /// It is there only where this is set: its program is another one's, too.
    only_with: Option<&'static str>,
}

/// All of the family.
pub fn editors() -> impl Iterator<Item = &'static dyn Installer> {
    FAMILY.iter().map(|editor| editor as &dyn Installer)
}

/// An extension: Pillion's own, which serves every agent, or that of an agent's maker.
#[derive(Debug)]
struct Extension {
    agent: Option<Dialect>,
    id: &'static str,
}

const EXTENSIONS: [Extension; 3] = [
    Extension {
        agent: None,
        id: "pillion.pillion",
    },
    Extension {
        agent: Some(Dialect::GeminiCli),
        id: "google.gemini-cli-vscode-ide-companion",
    },
    Extension {
        agent: Some(Dialect::QwenCode),
        id: "qwenlm.qwen-code-vscode-ide-companion",
    },
];

const NEXT: &str = "Start an agent in the editor's terminal. A window that was open may have to be reloaded first \
                    (Developer: Reload Window).";
const NEXT_OFFICIAL: &str =
    "Start the agent in the editor's terminal and type `/ide enable` in it.";

/// The places of the programs: `~` is the home folder.
const LINUX: [&str; 6] = [
    "/usr/share/{program}/bin/{program}",
    "/opt/{program}/bin/{program}",
    "/snap/bin/{program}",
    "~/.local/share/{program}/bin/{program}",
    "/var/lib/flatpak/exports/bin/{flatpak}",
    "~/.local/share/flatpak/exports/bin/{flatpak}",
];

const MAC: [&str; 3] = [
    "/Applications/{application}.app/Contents/Resources/app/bin/{program}",
    "~/Applications/{application}.app/Contents/Resources/app/bin/{program}",
    "~/Library/Application Support/{support_folder}/bin/{program}",
];

const WINDOWS: [&str; 4] = [
    "%ProgramFiles%/{windows_folder}/bin/{program}.cmd",
    "%ProgramFiles%/{windows_folder}/resources/app/bin/{program}.cmd",
    "%LOCALAPPDATA%/Programs/{windows_folder}/bin/{program}.cmd",
    "%LOCALAPPDATA%/Programs/{windows_folder}/resources/app/bin/{program}.cmd",
];

/// More than an editor's list of extensions has, or what it says of itself.
const MAX_JSON: u64 = 16 << 20;

impl Installer for Code {
    fn names(&self) -> &[&'static str] {
        &self.names
    }

    fn display_name(&self) -> &'static str {
        self.display_name
    }

    fn has_official(&self) -> bool {
        true
    }

    fn find(&self, machine: &Machine) -> Found {
        let program = self.program(machine).ok();
        let listed = self.listed(machine, program.as_deref());
        let mut found = Found {
            program,
            ..Found::default()
        };
        let Some(listed) = listed else {
            // Where it keeps its list is unknown, as in a sandbox, so nothing is known about it.
            return found;
        };
        for extension in &EXTENSIONS {
            match listed.iter().find(|it| extension.is(&it.identifier.id)) {
                Some(listed) => {
                    let version = listed.version.as_deref().unwrap_or_default();
                    let named = format!("{} {version}", extension.what());
                    found.installed.push(named.trim_end().to_owned());
                }
                // Those of the agents' makers are another way, which nobody needs to go.
                None if found.program.is_some() && extension.agent.is_none() => {
                    found.missing.push(extension.what());
                }
                None => {}
            }
        }
        found
    }

    fn install(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        let program = self.required(machine, options, "install")?;
        let chosen = EXTENSIONS.iter().filter(|it| is_wanted(it, options));
        let steps = chosen.map(|extension| extension.change(&program, machine.home(), true));
        let is_official = options.are_official();
        let notes = match is_official {
            true => None,
            false => package::without_program(machine, "extension", "`pillion.path`"),
        };
        Ok(Plan {
            steps: steps.collect(),
            notes: notes.into_iter().collect(),
            next: Some(if is_official { NEXT_OFFICIAL } else { NEXT }),
        })
    }

    fn uninstall(&self, machine: &Machine, options: &Options) -> anyhow::Result<Plan> {
        let program = self.required(machine, options, "remove")?;
        let there = change::listed(&program);
        let mut plan = Plan::default();
        for extension in EXTENSIONS.iter().filter(|it| is_wanted(it, options)) {
            // One that cannot list is asked to remove it.
            if there.as_ref().is_none_or(|ids| extension.is_among(ids)) {
                plan.steps.push(extension.change(&program, None, false));
            } else {
                let note = format!("{} is not installed", extension.what());
                plan.notes.push(note);
            }
        }
        if plan.steps.is_empty() {
            let which = match options.are_official() {
                true => "no agent's extension",
                false => "no extension of Pillion's",
            };
            let message = format!("{} has {which} installed", self.display_name);
            return Err(Failure::new(Kind::Refused, message)
                .hint("`pillion install --list` shows what is installed.")
                .into());
        }
        Ok(plan)
    }
}

impl Code {
    /// Its program; `verb` is what a person does without one.
    fn required(
        &self,
        machine: &Machine,
        options: &Options,
        verb: &str,
    ) -> anyhow::Result<PathBuf> {
        self.program(machine).map_err(|another| {
            let reason = another.map_or_else(String::new, |(program, name)| {
                format!(": {} is {name}'s", program.display())
            });
            let message = format!("{} was not found{reason}", self.display_name);
            let wanted = EXTENSIONS.iter().filter(|it| is_wanted(it, options));
            let ids: Vec<_> = wanted.map(|extension| extension.id).collect();
            let hint = format!(
                "Put its command `{}` on PATH, or {verb} in the editor: {}.",
                self.programs[0],
                ids.join(" and ")
            );
            Failure::new(Kind::Refused, message).hint(hint).into()
        })
    }

    /// Its program: on PATH, else in the usual places. If there is none, the error is one of its name that is
    /// another editor's: some take over the command `code`.
    fn program(&self, machine: &Machine) -> Result<PathBuf, Option<(PathBuf, &'static str)>> {
        if let Some(name) = self.only_with {
            // Whatever its command is called within.
            let is_here = machine.environment.filled(name).is_some();
            return machine
                .program(&self.programs)
                .filter(|_| is_here)
                .ok_or(None);
        }
        let named = self.alias_variable.and_then(|name| machine.variable(name));
        let named = named.as_ref().and_then(|path| path.to_str());
        // A path of its own would be run from wherever it leads: only a name is looked for.
        let named = named.filter(|name| !name.contains(['/', '\\']));
        let names: Vec<_> = named
            .into_iter()
            .chain(self.programs.iter().copied())
            .collect();
        let places = self.places(machine).into_iter();
        let places = places.filter(|place| is_program(place));
        let mut another = None;
        for program in machine.programs(&names).into_iter().chain(places) {
            match self.another_that_has(&program) {
                Some(name) => another = another.or(Some((program, name))),
                None => return Ok(program),
            }
        }
        Err(another)
    }

    /// The editor of the family, not this one, that a program belongs to.
    fn another_that_has(&self, program: &Path) -> Option<&'static str> {
        let own_name = Product::of(program)?.application_name;
        let has_it = |editor: &&Code| editor.programs.contains(&own_name.as_str());
        let known = FAMILY.iter().filter(|editor| editor.only_with.is_none());
        known
            .filter(|editor| editor.names != self.names)
            .find(has_it)
            .map(|editor| editor.display_name)
    }

    /// The usual places of its program, which is not always on PATH.
    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let all = machine.variable("ProgramFiles");
        let all = all.unwrap_or_else(|| r"C:\Program Files".into());
        let own = machine.folder_or("LOCALAPPDATA", "AppData/Local");
        let folders = [
            ("~", machine.home()),
            ("%ProgramFiles%", Some(all)),
            ("%LOCALAPPDATA%", own.ok()),
        ];
        let place = |pattern: &str, program: &str| {
            let mut place = pattern.replace("{program}", program);
            for (name, value) in [
                ("{application}", self.application),
                ("{support_folder}", self.support_folder),
                ("{windows_folder}", self.windows_folder),
                ("{flatpak}", self.flatpak),
            ] {
                if place.contains(name) {
                    place = place.replace(name, value?);
                }
            }
            let (first, rest) = place.split_once('/')?;
            match folders.iter().find(|(name, _)| *name == first) {
                Some((_, folder)) => Some(machine.join(folder.as_ref()?, rest)),
                None => Some(place.into()),
            }
        };
        let patterns = match machine.platform {
            Platform::Linux => &LINUX[..],
            Platform::Mac => &MAC,
            Platform::Windows => &WINDOWS,
        };
        let of_program = |program| patterns.iter().filter_map(move |it| place(it, program));
        self.programs.iter().copied().flat_map(of_program).collect()
    }

    /// The extensions that it has, from its own list on the disk; nothing if there is no list to
    /// read. To look runs nothing.
    fn listed(&self, machine: &Machine, program: Option<&Path>) -> Option<Vec<Listed>> {
        let product = program.and_then(Product::of);
        let named = product.as_ref().and_then(Product::folder);
        let list = format!("{}/extensions/extensions.json", named.or(self.extensions)?);
        read_json(&machine.join(machine.home()?, &list))
    }
}

/// The description that an installation of VS Code's family gives of itself, in `product.json` above its command: the part
/// that matters here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Product {
    /// The name of its command, also where a link has another one.
    application_name: String,
    /// The folder of its extensions, below the home folder.
    data_folder_name: Option<String>,
    /// The same of its server, to which a window elsewhere is connected.
    server_data_folder_name: Option<String>,
    #[serde(skip)]
    is_server: bool,
}

impl Product {
    /// That of the installation that a command belongs to; none where that is unknown, such as in
    /// a Snap.
    fn of(program: &Path) -> Option<Self> {
        let program = canonicalize(program).ok()?;
        // `bin/code` on a Mac and in a server's `bin/remote-cli`, `bin/code` beside `resources`.
        let above = program.ancestors().skip(2).take(2);
        let mut files = above.flat_map(|folder| {
            ["product.json", "resources/app/product.json"].map(|it| folder.join(it))
        });
        let mut product: Self = files.find_map(|file| read_json(&file))?;
        product.is_server = program
            .parent()
            .is_some_and(|bin| bin.ends_with("remote-cli"));
        Some(product)
    }

    /// The folder of its extensions, below the home folder.
    fn folder(&self) -> Option<&str> {
        let folder = if self.is_server {
            &self.server_data_folder_name
        } else {
            &self.data_folder_name
        };
        // A name, nothing that leads elsewhere.
        folder.as_deref().filter(|name| !name.contains(['/', '\\']))
    }
}

impl Extension {
    fn what(&self) -> String {
        let whose = self.agent.map_or("Pillion", Dialect::display_name);
        format!("{whose}'s extension")
    }

    /// Returns true if this is its id: editors write it as its maker does.
    fn is(&self, id: &str) -> bool {
        self.id.eq_ignore_ascii_case(id)
    }

    fn is_among(&self, ids: &[String]) -> bool {
        ids.iter().any(|id| self.is(id))
    }

    /// Has the editor's `program` install or remove it. What this program holds is given to it as a file below `home`: a
    /// sandbox has no other folder of the person's.
    fn change(
        &'static self,
        program: &Path,
        home: Option<PathBuf>,
        is_installed: bool,
    ) -> Box<dyn Step> {
        Box::new(Change {
            program: program.to_owned(),
            home,
            extension: self,
            is_installed,
        })
    }
}

/// An extension, as it stands in an editor's own list.
#[derive(Debug, Deserialize)]
struct Listed {
    identifier: Identifier,
    version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Identifier {
    id: String,
}

/// A file of an editor's; nothing if it is not there, or is something else.
fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&regular_file::read(path, MAX_JSON).ok()?).ok()
}

fn is_wanted(extension: &Extension, options: &Options) -> bool {
    match (extension.agent, options.agent) {
        (None, _) => !options.are_official(),
        (Some(_), None) => options.are_official(),
        (own, wanted) => own == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(name: &str, platform: Platform, variables: &[(&str, &str)]) -> Vec<String> {
        let editor = FAMILY.iter().find(|editor| editor.name() == name).unwrap();
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
        assert_eq!(places("positron", Platform::Linux, &home), expected);
        let of_code = places("vscode", Platform::Linux, &home);
        assert_eq!(of_code[0], "/usr/share/code/bin/code");
        assert_eq!(
            of_code[4],
            "/var/lib/flatpak/exports/bin/com.visualstudio.code"
        );
        assert_eq!(
            of_code[5],
            "/h/.local/share/flatpak/exports/bin/com.visualstudio.code"
        );
    }

    #[test]
    fn a_mac_has_its_places() {
        let app = "Applications/Visual Studio Code.app/Contents/Resources/app/bin/code";
        let support = "/h/Library/Application Support/Code/bin/code";
        let expected = [format!("/{app}"), format!("/h/{app}"), support.to_owned()];
        assert_eq!(places("vscode", Platform::Mac, &[("HOME", "/h")]), expected);
        let of_antigravity = places("antigravity", Platform::Mac, &[("HOME", "/h")]);
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
        assert_eq!(places("vscode", Platform::Windows, &variables), expected);
        let fewer = places("cursor", Platform::Windows, &variables[..1]);
        assert_eq!(fewer[0], r"C:\Program Files\cursor\bin\cursor.cmd");
        let own = r"C:\Users\me\AppData\Local\Programs\cursor\resources\app\bin\cursor.cmd";
        assert_eq!(fewer[3], own);
    }
}
