//! The languages that Kate has a server for, and whether that server is there. Kate compiles them into its plugin,
//! compressed; these are those of 25.04 to 26.08.

use crate::install::machine::Machine;

/// A language of Kate's.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// What its entry is called.
    pub name: &'static str,
    /// The program of its server, or those of several releases.
    programs: &'static [&'static str],
}

/// Where Kate looks besides PATH for some of them.
const FOLDERS: [&str; 4] = [".cargo/bin", "go/bin", ".juliaup/bin", ".nimble/bin"];

/// Likewise, below what a variable names.
const VARIABLES: [&str; 2] = ["CARGO_HOME", "GOPATH"];

/// The languages whose servers are not on this machine, and those whose are.
pub fn by_server(machine: &Machine) -> (Vec<&'static Language>, Vec<&'static Language>) {
    let homes = FOLDERS.iter().filter_map(|folder| {
        let home = machine.home()?;
        Some(machine.join(home, folder))
    });
    let named = VARIABLES.iter().filter_map(|name| {
        let folder = machine.variable(name)?;
        Some(machine.join(folder, "bin"))
    });
    let folders: Vec<_> = homes.chain(named).collect();
    let is_there = |program: &&str| {
        let beside = folders
            .iter()
            .any(|folder| machine.join(folder, program).is_file());
        beside || machine.program(&[program]).is_some()
    };
    let is_missing = |language: &&Language| !language.programs.iter().any(is_there);
    LANGUAGES.iter().partition(is_missing)
}

const LANGUAGES: [Language; 62] = [
    language("ada", &["ada_language_server"]),
    language("bash", &["bash-language-server"]),
    language("bibtex", &["texlab"]),
    language("blueprint", &["blueprint-compiler"]),
    language("c", &["clangd"]),
    language("clojure", &["clojure-lsp"]),
    language("cmake", &["neocmakelsp"]),
    language("css", &["vscode-css-languageserver"]),
    language("cpp", &["clangd"]),
    language("c-sharp", &["OmniSharp"]),
    language("d", &["serve-d"]),
    language("dart", &["dart"]),
    language("debputy", &["debputy"]),
    language("docker", &["docker-langserver"]),
    language("elm", &["elm-language-server"]),
    language("fish", &["fish-lsp"]),
    language("fortran", &["fortls"]),
    language("fsharp", &["fsautocomplete"]),
    language("gleam", &["gleam"]),
    language("glsl", &["glsl_analyzer"]),
    language("go", &["gopls"]),
    language("godot", &["nc"]),
    language("haskell", &["haskell-language-server-wrapper"]),
    language("html", &["vscode-html-languageserver"]),
    language("java", &["jdtls"]),
    language("javascript", &["typescript-language-server"]),
    language("javascriptreact", &["typescript-language-server"]),
    language("json", &["vscode-json-languageserver"]),
    language("jsonc", &["vscode-json-languageserver"]),
    language("julia", &["julia"]),
    language("kotlin", &["kotlin-language-server"]),
    language("latex", &["texlab"]),
    language("less", &["vscode-css-languageserver"]),
    language("lua", &["lua-language-server"]),
    language("markdown", &["marksman"]),
    language("nix", &["nil"]),
    language("nim", &["nimlsp"]),
    language("ocaml", &["ocamllsp"]),
    language("openscad", &["openscad-lsp"]),
    language("perl", &["perl", "perlnavigator"]),
    language("php", &["phpactor"]),
    language("purescript", &["purescript-language-server"]),
    language("python", &["pylsp"]),
    language("qml", &["qmlls"]),
    language("r", &["R"]),
    language("racket", &["racket"]),
    language("rpmspec", &["rpm_lsp_server"]),
    language("rst", &["python"]),
    language("ruby", &["solargraph"]),
    language("rust", &["rust-analyzer"]),
    language("scala", &["metals"]),
    language("scss", &["vscode-css-languageserver"]),
    language("terraform", &["terraform-ls"]),
    language("typescript", &["typescript-language-server"]),
    language("typescriptreact", &["typescript-language-server"]),
    language("typst", &["tinymist"]),
    language("vala", &["vala-language-server"]),
    language("vhdl", &["vhdl_ls"]),
    language("vue", &["vue-language-server"]),
    language("xml", &["lemminx"]),
    language("yaml", &["yaml-language-server"]),
    language("zig", &["zls"]),
];

const fn language(name: &'static str, programs: &'static [&'static str]) -> Language {
    Language { name, programs }
}
