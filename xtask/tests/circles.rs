//! No modules of a crate use each other in a circle. All inside of a module counts as the module:
//! at every level the children of one module are compared.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of a crate: the paths that each one's code names.
type Modules = BTreeMap<Vec<String>, Vec<Vec<String>>>;

/// The siblings that each child of a module uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn read(folder: &Path, module: &[String], modules: &mut Modules) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut module = module.to_vec();
        // A program beside a library is a crate of its own.
        if name == "tests" || name == "bin" {
            continue;
        }
        if path.is_dir() {
            module.push(name);
            read(&path, &module, modules);
            continue;
        }
        if !["lib", "main"].contains(&name.as_str()) || !module.is_empty() {
            module.push(name);
        }
        let text = fs::read_to_string(&path).unwrap();
        let paths = paths(&module, &text);
        modules.entry(module).or_default().extend(paths);
    }
}

/// The paths within the crate that a module's code names, from the crate's root on.
fn paths(module: &[String], text: &str) -> Vec<Vec<String>> {
    let code = text.split("\nmod tests {").next().unwrap();
    let lines = code.lines().map(str::trim);
    let code: Vec<_> = lines.filter(|line| !line.starts_with("//")).collect();
    let code = code.join(" ");
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|letter| is_word(letter) || letter == ':') {
                continue;
            }
            for path in tree(&code[at..]).0 {
                found.extend(absolute(module, &path));
            }
        }
    }
    // What a module takes from its own children, for those who take it from the module.
    for statement in code.split("use ").skip(1) {
        found.extend(tree(statement).0.into_iter().map(|path| {
            let own = module.iter().cloned();
            own.chain(path).collect()
        }));
    }
    found
}

/// The paths of a tree of `use`, or the one path in code; and what comes behind.
fn tree(text: &str) -> (Vec<Vec<String>>, &str) {
    let text = text.trim_start();
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    let Some(rest) = rest.strip_prefix("::") else {
        let alias = rest.trim_start().strip_prefix("as ").map(tree);
        let rest = alias.map_or(rest, |(_, rest)| rest);
        return (vec![vec![word.to_owned()]], rest);
    };
    let (mut below, mut rest) = (Vec::new(), rest);
    if let Some(mut list) = rest.strip_prefix('{') {
        while let Some(item) = Some(list.trim_start()).filter(|it| !it.starts_with('}')) {
            let (paths, behind) = tree(item);
            below.extend(paths);
            let behind = behind.trim_start();
            let next = behind.strip_prefix(',');
            match next {
                Some(next) => list = next,
                None => {
                    list = behind;
                    break;
                }
            }
        }
        rest = list.trim_start().strip_prefix('}').unwrap_or(list);
    } else {
        (below, rest) = tree(rest);
    }
    let paths = below.into_iter().map(|mut path| {
        path.insert(0, word.to_owned());
        path
    });
    (paths.collect(), rest)
}

fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut own = match path[0].as_str() {
        "crate" => Vec::new(),
        _ => module.to_vec(),
    };
    let mut rest = path;
    while let [first, behind @ ..] = rest {
        match first.as_str() {
            "crate" | "self" => {}
            "super" => {
                own.pop()?;
            }
            _ => break,
        }
        rest = behind;
    }
    own.extend(rest.iter().cloned());
    Some(own)
}

/// The module that a path leads to: what a module took from below it is there and not in the module.
fn home(modules: &Modules, path: &[String]) -> Vec<String> {
    let mut path = path.to_vec();
    for _ in 0..8 {
        let length = (0..=path.len()).rev();
        let length = length
            .into_iter()
            .find(|length| modules.contains_key(&path[..*length]));
        let length = length.unwrap_or(0);
        let Some(name) = path.get(length) else {
            return path;
        };
        let taken = modules.get(&path[..length]).into_iter().flatten();
        let mut taken = taken.filter(|it| it.last() == Some(name) && it.len() > length + 1);
        match taken
            .find(|it| it.starts_with(&path[..length]) && modules.contains_key(&it[..=length]))
        {
            Some(real) => path = real.clone(),
            None => return path[..length].to_vec(),
        }
    }
    path
}

/// The children of each module, and which siblings they use.
fn uses(modules: &Modules) -> BTreeMap<Vec<String>, Uses> {
    let mut uses: BTreeMap<Vec<String>, Uses> = BTreeMap::new();
    for (module, paths) in modules {
        for path in paths {
            let other = home(modules, path);
            let both = module.iter().zip(&other);
            let common = both.take_while(|(one, other)| one == other).count();
            if let (Some(one), Some(other)) = (module.get(common), other.get(common)) {
                let siblings = uses.entry(module[..common].to_vec()).or_default();
                siblings
                    .entry(one.clone())
                    .or_default()
                    .insert(other.clone());
            }
        }
    }
    uses
}

/// Those that use each other in a circle: who is reached from one and reaches it.
fn circles(uses: &Uses) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(name) = next.pop() {
            for used in uses.get(name).into_iter().flatten() {
                if reached.insert(used.clone()) {
                    next.push(used);
                }
            }
        }
        reached
    };
    let all: BTreeMap<_, _> = uses.keys().map(|name| (name, reached(name))).collect();
    let circle = |(name, reached): (&&String, &BTreeSet<String>)| {
        let both = reached
            .iter()
            .filter(|other| all.get(other).is_some_and(|it| it.contains(*name)));
        both.cloned().collect::<BTreeSet<_>>()
    };
    let circles = all.iter().map(circle);
    circles.filter(|circle| circle.len() > 1).collect()
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = |parent: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(parent).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let crates = ["crates", "tools"].map(|it| folders(&root.join(it)));
    let libraries = crates.concat().into_iter().map(|it| it.join("src"));
    let sources = libraries.flat_map(|it| [folders(&it.join("bin")), vec![it]].concat());
    let mut found = Vec::new();
    for folder in sources {
        let name = folder.strip_prefix(&root).unwrap().display().to_string();
        let mut modules = Modules::new();
        read(&folder, &[], &mut modules);
        assert!(modules.contains_key(&[][..]), "{name} has a root");
        for (parent, uses) in uses(&modules) {
            let place = [vec![name.clone()], parent].concat().join("::");
            for circle in circles(&uses) {
                let within = |name: &String| {
                    let used: Vec<_> = uses[name].intersection(&circle).cloned().collect();
                    format!("  {name} uses {}", used.join(", "))
                };
                let lines: Vec<_> = circle.iter().map(within).collect();
                found.push(format!("in {place}:\n{}", lines.join("\n")));
            }
        }
    }
    assert!(found.is_empty(), "circles\n{}", found.join("\n"));
}

#[test]
fn a_circle_is_seen_however_it_is_written() {
    let circle = |files: &[(&str, &str)]| {
        let mut modules = Modules::new();
        for (module, text) in files {
            let module = module.split("::").filter(|it| !it.is_empty());
            let module: Vec<_> = module.map(str::to_owned).collect();
            let paths = paths(&module, text);
            modules.insert(module, paths);
        }
        uses(&modules)
            .values()
            .any(|uses| !circles(uses).is_empty())
    };
    assert!(circle(&[
        ("", ""),
        ("a", "use crate::b::X;"),
        ("b", "use crate::{\n    c::Y,\n    a::{self, Z},\n};"),
        ("c", "")
    ]));
    assert!(circle(&[
        ("", "pub use a::X;"),
        ("a", "fn f() -> crate::b::Y {}"),
        ("b", "use crate::X;")
    ]));
    assert!(circle(&[
        ("", ""),
        ("p", ""),
        ("p::a", "use super::b::X;"),
        ("p::b", "let x = super::a::y();")
    ]));
    assert!(circle(&[
        ("", ""),
        ("a", ""),
        ("a::deep", "use super::super::b;"),
        ("b", "use crate::a::X as Y;")
    ]));
    assert!(!circle(&[
        ("", "use a::X;"),
        ("a", "use crate::Y;\n// crate::b"),
        ("b", "use crate::a::X;\nuse std::io;")
    ]));
    assert!(!circle(&[
        ("", ""),
        ("a", "use crate::b;\nmod tests {"),
        ("b", "\nmod tests {\n    use crate::a;")
    ]));
}
