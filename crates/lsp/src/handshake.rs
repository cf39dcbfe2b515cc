//! `initialize`: who the editor is, how it counts, and which profile it wants. Reads no more of the
//! parameters than it needs, so that nothing else in them can be wrong.

use pillion_discovery::version::VERSION;
use pillion_discovery::workspace::Workspace;
use pillion_protocol::IdeInfo;
use pillion_system::process;
use pillion_text::visible;
use pillion_view::Shows;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::message;
use crate::plugin::DidChangeWorkspace;
use crate::position::Encoding;
use crate::profile::ClientProfile;
use crate::quirks::Quirks;
use crate::roots::WorkspaceFolder;

/// As much of a name as people and agents are shown.
const MAX_NAME: usize = 40;

/// The parameters of `initialize`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    process_id: Option<i64>,
    client_info: Option<ClientInfo>,
    root_uri: Option<String>,
    workspace_folders: Option<Vec<WorkspaceFolder>>,
    #[serde(default)]
    capabilities: ClientCapabilities,
}

#[derive(Debug, Deserialize, Serialize)]
struct ClientInfo {
    name: String,
    version: Option<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct ClientCapabilities {
    general: Option<GeneralCapabilities>,
    /// Of clients without a plugin.
    #[serde(skip_serializing)]
    window: Option<Value>,
    /// Every client puts here what it likes.
    experimental: Option<Value>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct GeneralCapabilities {
    position_encodings: Option<Vec<String>>,
}

/// The profile that a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileKind {
    /// That of a plugin, which may send its version.
    Plugin { version: Option<String> },
    /// That of any other client.
    Plain,
}

impl InitializeParams {
    /// The process that agents search for: the editor's, or our parent's.
    pub fn editor_pid(&self) -> u32 {
        let given = self.process_id.and_then(|pid| u32::try_from(pid).ok());
        // A process that is not there is one of another container, or wrong.
        given
            .filter(|pid| process::is_alive(*pid))
            .unwrap_or_else(|| {
                let own = std::process::id();
                process::ancestors(own).first().copied().unwrap_or(own)
            })
    }

    /// The editor's identity; `fallback` if it does not identify itself.
    pub fn editor(&self, fallback: Option<&str>) -> IdeInfo {
        let editor = self.quirks(false).editor.or(self.client_name());
        identity(editor.or(fallback).unwrap_or_default())
    }

    fn client_name(&self) -> Option<&str> {
        Some(&self.client_info.as_ref()?.name)
    }

    /// The client's peculiarities. Where another program can open documents in it (`has_opener`), a client that
    /// does not declare that it shows them is not asked: Kate 26.08 takes the question and never answers.
    pub fn quirks(&self, has_opener: bool) -> Quirks {
        let mut quirks = Quirks::of(self.client_name().unwrap_or_default());
        let window = self.capabilities.window.as_ref();
        let shows = window.and_then(|window| window.pointer("/showDocument/support"));
        let is_declared = shows == Some(&Value::Bool(true));
        quirks.never_shows |= (quirks.shows_only_if_declared || has_opener) && !is_declared;
        quirks
    }

    pub fn editor_version(&self) -> &str {
        let info = self.client_info.as_ref();
        info.and_then(|info| info.version.as_deref()).unwrap_or("?")
    }

    pub fn folders(&self) -> Vec<&str> {
        let folders = self.workspace_folders.iter().flatten();
        let folders: Vec<&str> = folders.map(|folder| folder.uri.as_str()).collect();
        if folders.is_empty() {
            return self.root_uri.as_deref().into_iter().collect();
        }
        folders
    }

    /// Returns true if a plugin reports that there is no workspace root. Other clients name no folder
    /// when they mean the current one.
    pub fn has_no_root(&self, profile_kind: &ProfileKind) -> bool {
        let is_empty = self.workspace_folders.as_ref().is_some_and(Vec::is_empty);
        is_empty && self.root_uri.is_none() && matches!(profile_kind, ProfileKind::Plugin { .. })
    }

    pub fn encoding(&self) -> Encoding {
        let general = self.capabilities.general.as_ref();
        let offered = general.and_then(|general| general.position_encodings.as_deref());
        Encoding::choose(offered.unwrap_or_default())
    }

    /// The profile that the client wants.
    ///
    /// # Errors
    /// A sentence that names the field.
    pub fn profile_kind(&self) -> Result<ProfileKind, String> {
        let Some(pillion) = self.pillion() else {
            return Ok(ProfileKind::Plain);
        };
        match pillion {
            Value::Null | Value::Bool(false) => Ok(ProfileKind::Plain),
            Value::Bool(true) => Ok(ProfileKind::Plugin { version: None }),
            Value::Object(fields) => match fields.get("version") {
                None | Some(Value::Null) => Ok(ProfileKind::Plugin { version: None }),
                Some(Value::String(version)) => Ok(ProfileKind::Plugin {
                    version: Some(version.clone()),
                }),
                Some(_) => Err("capabilities.experimental.pillion.version: not a string".into()),
            },
            _ => Err("capabilities.experimental.pillion: neither true nor an object".into()),
        }
    }

    /// When a plugin wants to show diffs.
    ///
    /// # Errors
    /// A sentence that names the field.
    pub fn shows(&self) -> Result<Shows, String> {
        let diffs = self.pillion().and_then(|pillion| pillion.get("diffs"));
        match diffs {
            None | Some(Value::Null) => Ok(Shows::LastUsed),
            Some(Value::String(diffs)) if diffs == "lastUsed" => Ok(Shows::LastUsed),
            Some(Value::String(diffs)) if diffs == "never" => Ok(Shows::Never),
            Some(_) => Err(
                "capabilities.experimental.pillion.diffs: neither \"lastUsed\" nor \"never\""
                    .into(),
            ),
        }
    }

    /// The facts that a plugin tells about its workspace, if it leaves it to us to work the roots out.
    ///
    /// # Errors
    /// A sentence that names the field.
    pub fn workspace(&self) -> Result<Option<Workspace>, String> {
        let said = self.pillion().and_then(|pillion| pillion.get("workspace"));
        let said = said.filter(|said| !said.is_null()).cloned();
        let read = said.map(message::params::<DidChangeWorkspace>).transpose();
        let read =
            read.map_err(|why| format!("capabilities.experimental.pillion.workspace: {why}"))?;
        Ok(read.map(Into::into))
    }

    fn pillion(&self) -> Option<&Value> {
        self.capabilities.experimental.as_ref()?.get("pillion")
    }
}

/// The answer to `initialize`.
pub fn result(profile: &dyn ClientProfile) -> Value {
    let mut capabilities = profile.capabilities();
    // The client reports when its folders change.
    let folders = json!({"supported": true, "changeNotifications": true});
    capabilities["workspace"] = json!({"workspaceFolders": folders});
    json!({"capabilities": capabilities, "serverInfo": {"name": "pillion", "version": VERSION}})
}

/// The identity of an editor that people call `name`.
fn identity(name: &str) -> IdeInfo {
    let display: String = visible::one_line(name.trim())
        .chars()
        .take(MAX_NAME)
        .collect();
    let short = display
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .to_ascii_lowercase();
    match (short.is_empty(), display.is_empty()) {
        (false, _) => IdeInfo::new(short, display),
        (true, false) => IdeInfo::new("editor", display),
        (true, true) => IdeInfo::new("editor", "Editor"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message;

    fn params(value: Value) -> InitializeParams {
        message::params(value).unwrap()
    }

    #[test]
    fn an_editor_is_named_as_it_calls_itself() {
        for (said, name, display) in [
            ("Neovim", "neovim", "Neovim"),
            (
                "Visual Studio Code",
                "visual-studio-code",
                "Visual Studio Code",
            ),
            ("GNU Emacs\x1b[2J", "gnu-emacs-2j", "GNU Emacs␛[2J"),
            ("編集", "editor", "編集"),
            ("", "editor", "Editor"),
        ] {
            assert_eq!(identity(said), IdeInfo::new(name, display), "{said}");
        }
        assert_eq!(identity(&"x".repeat(9000)).display_name.len(), MAX_NAME);
        let silent = params(json!({}));
        assert_eq!(silent.editor(Some("Kate")).name, "kate");
        for (client, editor) in [
            ("Helix", "Helix"),
            ("Eglot", "Emacs"),
            ("emacs", "Emacs"),
            ("vim-lsp", "Vim"),
            ("kakoune-lsp", "Kakoune"),
            ("Sublime Text LSP", "Sublime Text"),
        ] {
            let named = params(json!({"clientInfo": {"name": client}}));
            assert_eq!(named.editor(Some("Kate")).display_name, editor);
        }
    }

    #[test]
    fn only_lsp_mode_is_believed_when_it_declares_no_documents_to_show() {
        let never_shows_beside = |has_opener: bool, client: &str, window: Value| {
            let capabilities = json!({"window": window});
            let info = json!({"name": client});
            let said = json!({"clientInfo": info, "capabilities": capabilities});
            params(said).quirks(has_opener).never_shows
        };
        let never_shows = |client: &str, window| never_shows_beside(false, client, window);
        let declared = json!({"showDocument": {"support": true}});
        for (window, expected) in [
            (declared, false),
            (json!({"showDocument": null}), true),
            (json!({"showDocument": {"support": false}}), true),
            (json!(5), true),
            (json!(null), true),
        ] {
            assert_eq!(never_shows("emacs", window.clone()), expected, "{window}");
            assert!(!never_shows("Helix", window.clone()));
            assert!(never_shows("vim-lsp", window.clone()));
            // Others are believed where another program can do it.
            for client in ["", "Helix", "Kate"] {
                assert_eq!(never_shows_beside(true, client, window.clone()), expected);
            }
        }
    }

    #[test]
    fn the_editor_s_process_is_the_one_that_lives() {
        let own = std::process::id();
        assert_eq!(params(json!({"processId": own})).editor_pid(), own);
        let parent = params(json!({"processId": null})).editor_pid();
        assert_ne!(parent, 0);
        for wrong in [json!(-1), json!(0), json!(i64::MAX)] {
            assert_eq!(params(json!({"processId": wrong})).editor_pid(), parent);
        }
    }

    #[test]
    fn folders_are_the_workspace_s_or_the_root() {
        let root = json!({"rootUri": "file:///r", "workspaceFolders": []});
        assert_eq!(params(root).folders(), ["file:///r"]);
        let both = json!({"rootUri": "file:///r", "workspaceFolders": [{"uri": "file:///w", "name": "w"}]});
        assert_eq!(params(both).folders(), ["file:///w"]);
        assert!(
            params(json!({"workspaceFolders": null}))
                .folders()
                .is_empty()
        );
    }

    #[test]
    fn an_empty_list_of_folders_is_no_root_for_a_plugin_only() {
        let plugin = ProfileKind::Plugin { version: None };
        let empty = json!({"workspaceFolders": []});
        assert!(params(empty.clone()).has_no_root(&plugin));
        assert!(!params(empty).has_no_root(&ProfileKind::Plain));
        for named in [
            json!({}),
            json!({"workspaceFolders": null}),
            json!({"workspaceFolders": [], "rootUri": "file:///r"}),
            json!({"workspaceFolders": [{"uri": "file:///w", "name": "w"}]}),
        ] {
            assert!(!params(named).has_no_root(&plugin));
        }
    }

    #[test]
    fn a_face_is_chosen_by_one_experimental_capability() {
        let profile_kind = |experimental: Value| {
            params(json!({"capabilities": {"experimental": experimental}})).profile_kind()
        };
        let plugin = |version: Option<&str>| {
            let version = version.map(str::to_owned);
            Ok(ProfileKind::Plugin { version })
        };
        assert_eq!(profile_kind(json!({"pillion": true})), plugin(None));
        assert_eq!(profile_kind(json!({"pillion": {}})), plugin(None));
        assert_eq!(
            profile_kind(json!({"pillion": {"version": "1.2.3"}})),
            plugin(Some("1.2.3"))
        );
        for plain in [json!(null), json!(5), json!({}), json!({"pillion": false})] {
            assert_eq!(profile_kind(plain), Ok(ProfileKind::Plain));
        }
        for (wrong, field) in [
            (json!({"pillion": 1}), "experimental.pillion:"),
            (
                json!({"pillion": {"version": 1}}),
                "experimental.pillion.version:",
            ),
        ] {
            assert!(profile_kind(wrong).unwrap_err().contains(field));
        }
    }

    #[test]
    fn a_plugin_says_when_it_shows_diffs() {
        let shows = |pillion: Value| {
            let experimental = json!({"pillion": pillion});
            params(json!({"capabilities": {"experimental": experimental}})).shows()
        };
        for default in [
            json!(true),
            json!({}),
            json!({"diffs": null}),
            json!({"diffs": "lastUsed"}),
        ] {
            assert_eq!(shows(default), Ok(Shows::LastUsed));
        }
        assert_eq!(params(json!({})).shows(), Ok(Shows::LastUsed));
        assert_eq!(shows(json!({"diffs": "never"})), Ok(Shows::Never));
        for wrong in [json!("always"), json!(""), json!(false), json!(1)] {
            let why = shows(json!({"diffs": wrong})).unwrap_err();
            assert!(why.contains("experimental.pillion.diffs:"), "{why}");
        }
    }
}
