//! The cost that every command pays before it does anything.

/// Each library is opened, mapped and bound at every start, and stays in the memory of a companion.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn no_library_is_loaded_but_the_systems_own() {
    // The loader itself answers, as it does for `ldd`, and does not start the program.
    let loader = std::process::Command::new(env!("CARGO_BIN_EXE_pillion"))
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .output()
        .unwrap();
    let said = String::from_utf8(loader.stdout).unwrap();
    let names = said
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let libraries: Vec<_> = names
        .filter_map(|name| name.split_once(".so"))
        .map(|(name, _)| name)
        // The loader, and what the kernel maps into every process.
        .filter(|name| !name.contains("ld-") && !name.contains("vdso"))
        .collect();
    assert!(libraries.contains(&"libc"), "{said}");
    // Before glibc 2.34, parts of it were files of their own.
    let own = ["libc", "libdl", "libgcc_s", "libpthread", "librt"];
    for library in libraries {
        assert!(own.contains(&library), "{library} is loaded:\n{said}");
    }
}
