//! The words that `pillion completions` offers, asked of real shells.

use std::process::Command;

use crate::sandbox::Sandbox;

/// The words that the shell offers behind these, one candidate a line.
fn offered(shell: &str, options: &[&str], script: &str, words: &str) -> String {
    let sandbox = Sandbox::new();
    let output = Command::new(shell)
        .args(options)
        .args(["-c", script])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .env("PILLION", env!("CARGO_BIN_EXE_pillion"))
        .env("WORDS", words)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shell}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Calls the completion function as bash does for the Tab key.
const BASH: &str = r#"
eval "$("$PILLION" completions bash)"
COMP_LINE="$WORDS"; COMP_POINT=${#WORDS}
read -ra COMP_WORDS <<< "$WORDS"
[[ $WORDS == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_pillion pillion "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

const FISH: &str = r#"
"$PILLION" completions fish | source
complete -C "$WORDS"
"#;

/// The words that are offered behind others, and something that must not be.
const CASES: [(&str, &[&str], &str); 6] = [
    ("pillion ", &["review", "doctor"], "gemini"),
    (
        "pillion run ",
        &["claude", "codex", "opencode", "qwen"],
        "nvim",
    ),
    ("pillion install n", &["nvim"], "gemini"),
    ("pillion completions ", &["fish", "zsh"], "gemini"),
    ("pillion doctor ", &["claude", "codex", "gemini"], "nvim"),
    ("pillion man ", &["review", "serve"], "gemini"),
];

fn check(shell: &str, options: &[&str], script: &str) {
    for (words, wanted, unwanted) in CASES {
        let offered = offered(shell, options, script, words);
        // fish puts a description behind a tab.
        let names: Vec<_> = offered
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default())
            .collect();
        for name in wanted {
            assert!(names.contains(name), "{shell}, {words:?}: {offered}");
        }
        assert!(!names.contains(&unwanted), "{shell}, {words:?}: {offered}");
    }
}

#[test]
fn bash_offers_commands_and_values() {
    check("bash", &["--norc", "--noprofile"], BASH);
}

#[test]
#[ignore = "needs fish: cargo xtask test"]
fn fish_offers_commands_and_values() {
    check("fish", &["--no-config"], FISH);
}

/// Behind an agent come the agent's own arguments.
#[test]
#[ignore = "needs fish: cargo xtask test"]
fn fish_offers_no_second_agent() {
    let offered = offered("fish", &["--no-config"], FISH, "pillion run gemini ");
    assert!(!offered.contains("qwen"), "{offered}");
}

/// zsh completes in its line editor only, so that the script is loaded and read.
#[test]
#[ignore = "needs zsh: cargo xtask test"]
fn zsh_loads_the_script_and_it_names_the_agents() {
    let script = r#"
autoload -U compinit && compinit -u -d "$HOME/.zcompdump" || exit
"$PILLION" completions zsh > "$HOME/_pillion" && source "$HOME/_pillion" && which -w _pillion
grep -c '(gemini qwen)' "$HOME/_pillion"
"#;
    let text = offered("zsh", &["-f"], script, "");
    assert!(text.starts_with("_pillion: function"), "{text}");
    assert_ne!(text.lines().last(), Some("0"), "{text}");
}
