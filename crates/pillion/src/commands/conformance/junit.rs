//! The report as JUnit XML, which build servers read.

use pillion_conformance::{Group, Report, Row, Target, Verdict};
use pillion_text::visible;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::output;

/// The report, one suite for each group.
pub fn xml(target: &Target, report: &Report) -> anyhow::Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let summary = report.summary();
    let mut suites = BytesStart::new("testsuites");
    suites.push_attribute(("name", &*text(&output::companion(target))));
    counts(
        &mut suites,
        report.rows.len(),
        summary.failed,
        summary.skipped,
    );
    writer.write_event(Event::Start(suites))?;
    for rows in report.rows.chunk_by(|a, b| a.rule.group == b.rule.group) {
        suite(&mut writer, rows[0].rule.group, rows)?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    let mut xml = writer.into_inner();
    xml.push(b'\n');
    Ok(xml)
}

fn suite(writer: &mut Writer<Vec<u8>>, group: Group, rows: &[Row]) -> anyhow::Result<()> {
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let mut suite = BytesStart::new("testsuite");
    suite.push_attribute(("name", group.title()));
    let (failed, skipped) = (of(Verdict::Fail), of(Verdict::Skip));
    counts(&mut suite, rows.len(), failed, skipped);
    writer.write_event(Event::Start(suite))?;
    for row in rows {
        case(writer, row)?;
    }
    Ok(writer.write_event(Event::End(BytesEnd::new("testsuite")))?)
}

fn case(writer: &mut Writer<Vec<u8>>, row: &Row) -> anyhow::Result<()> {
    let mut case = BytesStart::new("testcase");
    case.push_attribute(("classname", row.rule.group.title()));
    let name = format!("{} {}: {}", row.rule.id, row.rule.level, row.rule.title);
    case.push_attribute(("name", &*text(&name)));
    let detail = text(&row.detail);
    let tag = match row.verdict {
        Verdict::Pass => "system-out",
        Verdict::Fail => "failure",
        Verdict::Skip => "skipped",
    };
    writer.write_event(Event::Start(case))?;
    let mut element = BytesStart::new(tag);
    if row.verdict == Verdict::Fail {
        element.push_attribute(("type", row.rule.level.keyword()));
    }
    if tag == "system-out" {
        writer.write_event(Event::Start(element))?;
        writer.write_event(Event::Text(BytesText::new(&detail)))?;
        writer.write_event(Event::End(BytesEnd::new(tag)))?;
    } else {
        element.push_attribute(("message", &*detail));
        writer.write_event(Event::Empty(element))?;
    }
    Ok(writer.write_event(Event::End(BytesEnd::new("testcase")))?)
}

fn counts(element: &mut BytesStart<'_>, tests: usize, failures: usize, skipped: usize) {
    element.push_attribute(("tests", &*tests.to_string()));
    element.push_attribute(("failures", &*failures.to_string()));
    element.push_attribute(("skipped", &*skipped.to_string()));
}

/// `text` without what XML cannot hold.
fn text(text: &str) -> String {
    visible::one_line(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
