//! The Debian package in a bare Debian: it installs, its plugins are found, it is upgraded, and it goes without a trace.

use std::process::Command;

use crate::bare::{Debian, LOOK_OF_NEOVIM, VERSION, artifact};

fn package() -> String {
    let architecture = Command::new("dpkg")
        .arg("--print-architecture")
        .output()
        .unwrap();
    let architecture = String::from_utf8(architecture.stdout).unwrap();
    let path = artifact("pillion_", &format!("_{}.deb", architecture.trim()));
    format!("/dist/{}", path.file_name().unwrap().to_str().unwrap())
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn it_installs_upgrades_and_goes_without_a_trace() {
    let debian = Debian::new();
    let package = package();
    let before = debian.files();
    // What an older release was: the same with other numbers, and a file that newer ones do not have.
    debian.run(&format!(
        "dpkg-deb -R {package} /tmp/old; sed -i 's/^Version: .*/Version: 0.0.1/' /tmp/old/DEBIAN/control
         elpa=/tmp/old/usr/share/emacs/site-lisp/elpa; mv $elpa/pillion-* $elpa/pillion-0.0.1
         touch /tmp/old/usr/share/nvim/site/pack/dist/start/pillion/lua/pillion/gone.lua
         dpkg-deb -b /tmp/old /tmp/old.deb; dpkg -i /tmp/old.deb"
    ));
    let version = |of: &str| debian.run(&format!("dpkg-query -W -f '${{{of}}}' pillion"));
    assert_eq!(version("Version"), "0.0.1");
    debian.run(&format!("dpkg -i {package}"));
    assert_eq!(version("Version"), VERSION);
    assert_eq!(version("Depends"), "", "a static program needs nothing");
    let files = debian.files();
    let has = |end: &str| files.iter().any(|file| file.ends_with(end));
    assert!(!has("gone.lua") && !has("elpa/pillion-0.0.1"));
    assert!(has(&format!("elpa/pillion-{VERSION}/pillion.el")));
    assert!(has("/usr/share/man/man1/pillion-run.1.gz") && has("/usr/share/doc/pillion/copyright"));

    assert_eq!(
        debian.run("pillion --version"),
        format!("pillion {VERSION}\n")
    );
    assert_eq!(debian.run("dpkg --verify pillion"), "");
    // All of it is root's, nobody else can change it, and no folder of ours stands for a link of another package: that
    // could not be installed after this one.
    assert_eq!(
        debian.run("dpkg -L pillion | xargs -d '\\n' stat -c '%U %a' | sort -u"),
        "root 644\nroot 755\n"
    );
    let complete =
        "bash -c '. /usr/share/bash-completion/completions/pillion; complete -p pillion'";
    assert!(debian.run(complete).contains("-F _pillion"));

    debian.run("dpkg --purge pillion");
    assert_eq!(debian.files(), before);
}

/// Of somebody with no settings at all.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn every_editor_finds_its_plugin() {
    let debian = Debian::new();
    debian.run(&format!("dpkg -i {}; echo one > first.txt", package()));

    debian.put("tmp/look.lua", LOOK_OF_NEOVIM);
    debian.run("timeout 60 nvim --headless first.txt -c 'luafile /tmp/look.lua'");
    assert_eq!(debian.get("tmp/look"), "true true \n");

    debian.put(
        "tmp/vim.vim",
        "let g:rounds = 0
         func Look(timer)
           let g:rounds += 1
           let listed = system('pillion list --json')
           if listed =~ 'first\\|project' || g:rounds > 100
             let tags = len(getcompletion('pillion-', 'help')) > 5
             call writefile([exists(':Pillion') . ' ' . (listed =~ 'Vim') . ' ' . tags], '/tmp/vim')
             qall!
           endif
         endfunc
         call timer_start(200, 'Look', {'repeat': -1})",
    );
    debian.run("timeout 60 script -qec 'vim -S /tmp/vim.vim first.txt' /dev/null");
    assert_eq!(debian.get("tmp/vim"), "2 1 1\n");

    debian.put(
        "root/.emacs.d/init.el",
        "(pillion-mode 1)
         (defvar rounds 0)
         (run-at-time 0.2 0.2 (lambda ()
           (setq rounds (1+ rounds))
           (let ((listed (shell-command-to-string \"pillion list --json\")))
             (when (or (string-match-p \"project\" listed) (> rounds 100))
               (write-region (format \"%s %s\" (and (string-match-p \"Emacs\" listed) t)
                                              (and (package-installed-p 'pillion) t)) nil \"/tmp/emacs\")
               (kill-emacs)))))",
    );
    debian.run("timeout 60 script -qec 'emacs -nw first.txt' /dev/null");
    assert_eq!(debian.get("tmp/emacs"), "t t");

    debian.put(
        "root/.config/kak/kakrc",
        "hook -once global ClientCreate .* %{ evaluate-commands %sh{
           for round in $(seq 100); do
             listed=$(pillion list --json); case $listed in *project*) break;; esac; sleep 0.2
           done
           echo \"$listed\" > /tmp/listed
         } ; try %{ pillion-status ; echo -to-file /tmp/kak yes } catch %{ echo -to-file /tmp/kak %val{error} }; quit! }",
    );
    debian.run("timeout 60 script -qec 'kak first.txt' /dev/null");
    assert_eq!(debian.get("tmp/kak"), "yes");
}

/// Another copy in the home would be one too many.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn pillion_installs_no_second_copy_beside_it() {
    let debian = Debian::new();
    debian.run(&format!("dpkg -i {}", package()));
    for (editor, place) in [
        (
            "nvim",
            "/usr/share/nvim/site/pack/dist/start/pillion".to_owned(),
        ),
        (
            "vim",
            "/usr/share/vim/vimfiles/pack/dist/start/pillion".to_owned(),
        ),
        (
            "emacs",
            format!("/usr/share/emacs/site-lisp/elpa/pillion-{VERSION}"),
        ),
        ("kakoune", "/usr/share/kak/rc/pillion".to_owned()),
    ] {
        let said = debian.run(&format!("pillion install {editor} 2>&1 && exit 1 || true"));
        assert!(
            said.contains(&format!("the plugin is already in {place}")),
            "{said}"
        );
        assert!(
            debian
                .run("pillion install --list")
                .contains(&format!("plugin in {place}")),
            "{place}"
        );
    }
    debian.run("dpkg --purge pillion; cp /dist/pillion_*_$(dpkg --print-architecture).deb /tmp/p.deb
        dpkg-deb -x /tmp/p.deb /tmp/x; cp /tmp/x/usr/bin/pillion /usr/local/bin; pillion install nvim");
}

/// As it is distributed, with the address of a release in it.
#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn the_installer_installs_the_archive() {
    let debian = Debian::new();
    let said = debian.run("PILLION_BASE_URL=file:///dist sh /dist/install.sh");
    assert!(
        said.contains(&format!(
            "pillion {VERSION} is installed in /root/.local/bin"
        )),
        "{said}"
    );
    assert_eq!(
        debian.run("/root/.local/bin/pillion --version"),
        format!("pillion {VERSION}\n")
    );
}
