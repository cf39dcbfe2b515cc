//! `docs/doctor.md` explains every finding: people search for the ids.

use std::path::Path;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md");
const CODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/doctor/finding.rs");

#[test]
fn the_page_and_the_code_know_the_same_findings_in_the_same_order() {
    let page = std::fs::read_to_string(Path::new(PAGE)).unwrap();
    let described: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    let code = std::fs::read_to_string(Path::new(CODE)).unwrap();
    let (_, list) = code.split_once("\nids! {").unwrap();
    let known: Vec<_> = list
        .lines()
        .take_while(|line| *line != "}")
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    assert!(known.len() > 20, "{known:?}");
    assert_eq!(described, known);
}
