//! Terminals within terminals, and variables that are left over.

use super::*;

/// A chain from the asking process up: each command's pid is ten times its height from below.
fn chain(commands: &[&str]) -> Vec<Process> {
    let pid = |height: usize| u32::try_from(height * 10).expect("a chain is short");
    let commands = std::iter::once(&"pillion detect").chain(commands);
    commands
        .enumerate()
        .map(|(height, command)| Process {
            pid: pid(height + 1),
            parent: pid(height + 2),
            command: (*command).to_owned(),
        })
        .collect()
}

/// The detection, where no process lives but those above, 812 and 813.
fn found(variables: &[(&str, &str)], commands: &[&str]) -> Option<Detection> {
    let environment = Environment::from_pairs(variables.iter().copied());
    let living = |pid| {
        let command = match pid {
            812 => "/usr/bin/kate x",
            813 => "nvim --embed",
            _ => return None,
        };
        Some(Process {
            pid,
            parent: 1,
            command: command.to_owned(),
        })
    };
    detect_among(&environment, &chain(commands), living)
}

#[track_caller]
fn assert_found(
    variables: &[(&str, &str)],
    commands: &[&str],
    name: &str,
    pid: Option<u32>,
    via: &str,
) {
    let found = found(variables, commands).expect("one is found");
    let shown = (found.ide.name, found.pid, found.via.to_string());
    assert_eq!(shown, (name, pid, via.to_owned()));
}

const CODE: (&str, &str) = ("TERM_PROGRAM", "vscode");

#[test]
fn the_nearest_editor_wins() {
    let nvim_in_code = [
        "bash",
        "nvim --embed",
        "nvim",
        "bash",
        "/usr/share/code/code",
    ];
    let variables = [CODE, ("NVIM", "/run/user/1/nvim.30.0")];
    assert_found(
        &variables,
        &nvim_in_code,
        "neovim",
        Some(30),
        "variable NVIM",
    );
    assert_found(&[CODE], &nvim_in_code, "neovim", Some(30), "process 30");
    // VS Code that was started from Neovim's terminal has Neovim's variables.
    let code_in_nvim = ["bash", "/usr/share/code/code", "bash", "nvim --embed"];
    let variables = [CODE, ("NVIM", "/run/user/1/nvim.50.0")];
    assert_found(&variables, &code_in_nvim, "vscode", Some(30), "process 30");
}

#[test]
fn a_neovim_that_was_started_as_vim_is_neovim() {
    let socket = [("NVIM", "/run/user/1/nvim.30.0")];
    let commands = ["bash", "vim a.txt", "bash"];
    assert_found(&socket, &commands, "neovim", Some(30), "variable NVIM");
    // Vim in the terminal of a Neovim.
    let commands = ["vim a.txt", "bash", "nvim --embed"];
    let socket = [("NVIM", "/run/user/1/nvim.40.0")];
    assert_found(&socket, &commands, "vim", Some(20), "process 20");
}

#[test]
fn the_process_of_a_window_is_the_one_above_its_helpers() {
    let code = "/usr/share/code/code";
    let helper = "/usr/share/code/code --type=utility";
    for variables in [&[][..], &[CODE]] {
        let commands = ["bash", helper, helper, code, "gnome-shell", code];
        let found = found(variables, &commands).expect("one is found");
        assert_eq!((found.ide.name, found.pid), ("vscode", Some(50)));
    }
    let app = "/Applications/Visual Studio Code.app/Contents";
    let shell = format!("/bin/bash --init-file {app}/Resources/app/out/shellIntegration-bash.sh");
    let helper = format!("{app}/Frameworks/Code Helper.app/Contents/MacOS/Code Helper --type=x");
    let main = format!("{app}/MacOS/Electron");
    let found = found(&[], &[&shell, &helper, &main]).expect("one is found");
    assert_eq!((found.ide.name, found.pid), ("vscode", Some(40)));
}

#[test]
fn process_1_is_never_taken_for_the_ide() {
    let environment = Environment::from_pairs([("TERM_PROGRAM", "Zed")]);
    for commands in [&[][..], &["bash"]] {
        let mut chain = chain(commands);
        chain.push(Process {
            pid: 1,
            parent: 0,
            command: "/sbin/init".to_owned(),
        });
        let found = detect_among(&environment, &chain, |_| None).expect("one is found");
        assert_eq!(
            (found.ide.name, found.pid, found.command),
            ("zed", None, None)
        );
    }
}

/// Windows has pipes, which are no files.
#[cfg(unix)]
#[test]
fn a_socket_of_a_neovim_that_is_gone_identifies_nothing() {
    let gone = [("NVIM", "/run/user/1/nvim.77.0")];
    assert_eq!(found(&gone, &["bash", "tmux"]), None);
    let no_such_file = [("NVIM", "/no/such/socket")];
    assert_eq!(found(&no_such_file, &["bash", "sshd"]), None);
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("nvim.813.0");
    let socket = socket.to_str().unwrap();
    let lives = [("NVIM", socket), ("TMUX", "/tmp/t,1,0")];
    // A process of that number may be any by now.
    assert_eq!(found(&lives, &["bash", "tmux"]), None);
    std::fs::write(socket, "").unwrap();
    // Users who want Neovim to listen at one place set that for all terminals.
    assert_eq!(found(&[("NVIM_LISTEN_ADDRESS", socket)], &["bash"]), None);
    assert_found(
        &lives,
        &["bash", "tmux"],
        "neovim",
        Some(813),
        "variable NVIM, inherited through tmux or screen: it may be out of date",
    );
    let found = found(&lives, &["bash", "tmux"]).unwrap();
    assert_eq!(found.command.as_deref(), Some("nvim --embed"));
}

/// Windows has pipes, which are no files.
#[cfg(unix)]
#[test]
fn what_came_through_tmux_is_marked_and_names_no_process_that_is_not_the_ides() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("x.sock");
    let variables = [
        ("VSCODE_IPC_HOOK_CLI", socket.to_str().unwrap()),
        ("TERM_PROGRAM", "tmux"),
    ];
    // VS Code is gone, and with it its socket.
    assert_eq!(found(&variables, &["-zsh", "tmux new -s x"]), None);
    std::fs::write(&socket, "").unwrap();
    assert_found(
        &variables,
        &["-zsh", "tmux new -s x", "systemd --user"],
        "vscode",
        None,
        "variable VSCODE_IPC_HOOK_CLI, inherited through tmux or screen: it may be out of date",
    );
    // An editor within the pane is certain, whatever the server inherited.
    let commands = ["bash", "hx a.rs", "bash", "tmux"];
    assert_found(&variables, &commands, "helix", Some(30), "process 30");
}

#[test]
fn a_command_names_the_fork_and_the_product() {
    let jetbrains = [("TERMINAL_EMULATOR", "JetBrains-JediTerm")];
    let java = "/opt/clion/jbr/bin/java -cp x com.intellij.Main";
    let narrowed = "variable TERMINAL_EMULATOR and the command of process 40";
    assert_found(
        &jetbrains,
        &["bash", "x", java],
        "clion",
        Some(40),
        narrowed,
    );
    assert_found(
        &jetbrains,
        &["bash"],
        "jetbrains",
        None,
        "variable TERMINAL_EMULATOR",
    );
    let fork = "variable TERM_PROGRAM and the command of process 40";
    assert_found(
        &[CODE],
        &["bash", "x", "/opt/void/void"],
        "vscodefork",
        Some(40),
        fork,
    );
    assert_found(
        &[CODE],
        &["bash", "x", "/opt/windsurf/windsurf"],
        "windsurf",
        Some(40),
        "process 40",
    );
}

#[test]
fn a_service_that_runs_vs_code_is_named_by_its_own_variable() {
    let variables = [CODE, ("CODESPACES", "true")];
    let commands = ["bash", "/vscode/bin/code --server"];
    assert_found(
        &variables,
        &commands,
        "codespaces",
        Some(30),
        "variable CODESPACES",
    );
}

#[test]
fn editors_have_variables_of_their_own() {
    for (variable, value, name) in [
        ("VIM_TERMINAL", "901", "vim"),
        ("INSIDE_EMACS", "30.1,comint", "emacs"),
        ("kak_session", "4711", "kakoune"),
        ("ZED_TERM", "true", "zed"),
    ] {
        let found = found(&[(variable, value)], &["bash"]).expect("one is found");
        assert_eq!(found.ide.name, name);
        let other = known().filter(|ide| ide.name == name);
        assert_eq!(other.count(), 1);
    }
    assert_found(
        &[("KATE_PID", "812")],
        &["bash"],
        "kate",
        Some(812),
        "variable KATE_PID",
    );
    for pid in ["77", "813"] {
        assert_eq!(found(&[("KATE_PID", pid)], &["bash"]), None, "{pid}");
    }
}

#[test]
fn vims_other_variables_count_only_together_and_last() {
    let vim = [
        ("VIM", "/usr/share/vim"),
        ("VIMRUNTIME", "/usr/share/vim/vim90"),
    ];
    assert_found(&vim, &["bash"], "vim", None, "variable VIMRUNTIME");
    assert_eq!(found(&vim[..1], &["bash"]), None);
    let nvim = [
        ("VIM", "/usr/share/nvim"),
        ("VIMRUNTIME", "/usr/share/nvim/runtime"),
    ];
    assert_found(&nvim, &["bash"], "neovim", None, "variable VIMRUNTIME");
    let and_code = [vim[0], vim[1], CODE];
    assert_eq!(
        found(&and_code, &["bash"]).map(|it| it.ide.name),
        Some("vscode")
    );
}

#[test]
fn nothing_is_found_where_nothing_speaks_for_anything() {
    assert_eq!(found(&[], &["bash", "sshd", "systemd"]), None);
    assert_eq!(found(&[("POSITRON", "0"), ("NVIM", "")], &[]), None);
    assert_eq!(detect(&Environment::default(), &[]), None);
    // Its own name is no evidence: only what is above it.
    let own = [Process {
        pid: 10,
        parent: 1,
        command: "nvim".to_owned(),
    }];
    assert_eq!(detect(&Environment::default(), &own), None);
}

#[test]
fn an_application_of_a_mac_is_known_by_its_folder() {
    for (command, name) in [
        (
            "/Applications/Visual Studio Code.app/Contents/MacOS/Electron",
            "vscode",
        ),
        (
            "/Applications/Cursor.app/Contents/Frameworks/Cursor Helper.app/Contents/MacOS/Cursor Helper",
            "cursor",
        ),
        ("/Applications/Zed.app/Contents/MacOS/zed", "zed"),
        (
            "/Applications/IntelliJ IDEA.app/Contents/MacOS/idea",
            "intellijidea",
        ),
    ] {
        let found = found(&[], &["-zsh", command]).expect("one is found");
        assert_eq!(found.ide.name, name, "{command}");
    }
}
