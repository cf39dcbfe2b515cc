//! What may play a part and is not judged: plain lines of the report. A proxy's address, which may hold a password, is
//! not in them, nor is a hook's command.

use std::path::{Path, PathBuf};

use pillion_discovery::survey::{Companion, Liveness};
use pillion_protocol::Dialect;
use serde_json::Value;

use crate::checks::TOOLS;
use crate::facts::{Facts, is_for};
use crate::setup::settings::{Content, SettingsFile, directory, home};

/// The variables from which agents take a proxy.
const PROXIES: [&str; 8] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

/// The lines about one agent.
pub fn asides(facts: &Facts) -> Vec<String> {
    let mut lines = Vec::new();
    let set = PROXIES.iter();
    let set = set.filter(|name| facts.environment().filled(name).is_some());
    let proxies: Vec<_> = set.map(|name| format!("{name}=…")).collect();
    if !proxies.is_empty() {
        lines.push(format!("proxy: {}", proxies.join(" ")));
    }
    if matches!(facts.agent(), Dialect::GeminiCli | Dialect::QwenCode) {
        lines.extend(dotenv(facts));
    }
    let of_folder = facts.setup.settings.of_folder.iter();
    let of_folder = of_folder.filter(|file| !matches!(file.content, Content::Missing));
    lines.extend(of_folder.map(|file| {
        format!(
            "settings of the folder, which count if it is trusted: {}",
            file.path.display()
        )
    }));
    for file in &facts.setup.settings.files {
        lines.extend(rules(file));
        lines.extend(hooks(facts.agent(), file));
    }
    lines.extend(unseen(facts));
    lines.extend(unused(facts));
    lines
}

/// Files with variables, which Gemini CLI and Qwen Code read after their settings.
fn dotenv(facts: &Facts) -> Option<String> {
    let own = directory(facts.agent());
    let home = home(facts.agent(), facts.environment());
    let below = facts.folder.ancestors();
    let folders = below.chain([home.as_path()]);
    let paths = folders.flat_map(|folder| [folder.join(own).join(".env"), folder.join(".env")]);
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    files.dedup();
    (!files.is_empty()).then(|| format!("variables in files: {}", list(&files)))
}

/// Permission rules about changes.
fn rules(file: &SettingsFile) -> Option<String> {
    let kinds = ["deny", "ask", "allow"].into_iter();
    let rules = kinds.flat_map(|kind| {
        let rules = file.content.get(&["permissions", kind]);
        let rules = rules.and_then(Value::as_array).into_iter().flatten();
        let rules = rules.filter_map(Value::as_str);
        let about_changes = rules.filter(|rule| TOOLS.iter().any(|tool| rule.starts_with(tool)));
        about_changes.map(move |rule| format!("{kind} `{rule}`"))
    });
    let rules: Vec<_> = rules.collect();
    (!rules.is_empty()).then(|| format!("rules in {}: {}", file.path.display(), rules.join(", ")))
}

/// Others' hooks.
fn hooks(agent: Dialect, file: &SettingsFile) -> Option<String> {
    let Content::Object(values) = &file.content else {
        return None;
    };
    let hooks = pillion_hooks::settings::hooks(values).into_iter();
    let others = hooks.filter(|hook| hook.ours(agent.name()).is_none());
    let mut events: Vec<_> = others.map(|hook| hook.event).collect();
    events.dedup();
    (!events.is_empty()).then(|| {
        format!(
            "other hooks in {}: {}",
            file.path.display(),
            events.join(", ")
        )
    })
}

/// Companions for this folder that run in another container, or may do so. Their files are not to be removed.
fn unseen(facts: &Facts) -> impl Iterator<Item = String> {
    let companions = facts.survey.companions.iter();
    let own = companions.filter(|companion| {
        is_for(companion, facts.agent()) && companion.depth(&facts.folder).is_some()
    });
    own.filter_map(|companion: &Companion| {
        let files: Vec<PathBuf> = companion.files.iter().map(|it| it.path.clone()).collect();
        let (name, port) = (companion.display_name(), companion.port);
        let where_it_runs = if companion.liveness == Liveness::OutOfReach {
            "belongs to another container or machine, whose network is not this one's"
        } else if !companion.is_alive() && facts.doubtful.contains(&port) {
            "is gone, or runs in another container"
        } else if companion.is_alive() && !companion.visibility().processes {
            "runs in another container, whose processes are not seen here"
        } else {
            return None;
        };
        Some(format!(
            "{name} on port {port} {where_it_runs}: {}",
            list(&files)
        ))
    })
}

/// Whatever stands in the place of a discovery file and is none that can be used, or is open to other users.
fn unused(facts: &Facts) -> impl Iterator<Item = String> {
    let survey = &facts.survey;
    let errors = survey.unread.iter();
    let errors = errors.filter(|error| is_agents(facts, error.path()));
    let malformed = survey.malformed.iter();
    let malformed = malformed.filter(|path| is_agents(facts, path));
    let open = facts.disk.open.iter();
    { errors.map(|error| format!("not used: {error}")) }
        .chain(malformed.map(|it| format!("not used: {} is no discovery file", it.display())))
        .chain(open.map(|it| format!("open to other users: {}", it.display())))
}

/// Returns true if a path is one of those where this agent's files are.
fn is_agents(facts: &Facts, path: &Path) -> bool {
    let environment = facts.environment();
    let mut places = facts.agent().discovery().places().iter();
    places.any(|place| {
        let folder = environment.directory(place);
        let name = path.file_name().and_then(|name| name.to_str());
        let is_file =
            path.parent() == Some(&folder) && name.is_some_and(|name| place.name.fits(name));
        is_file || (folder.starts_with(path) && path != environment.base(place.base))
    })
}

fn list(files: &[PathBuf]) -> String {
    let shown: Vec<_> = files
        .iter()
        .map(|path: &PathBuf| Path::display(path).to_string())
        .collect();
    shown.join(", ")
}
