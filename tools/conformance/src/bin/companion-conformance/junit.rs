//! The report as JUnit XML, which build servers read.

use std::io;

use companion_conformance::{Report, Row, Target, Verdict};
use pillion_text::visible;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::ElementWriter;

use super::output;

type Xml = Writer<Vec<u8>>;

/// The report, one suite for each group.
pub fn xml(target: &Target, report: &Report) -> io::Result<Vec<u8>> {
    let mut writer = Xml::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = writer.create_element("testsuites");
    let suites = suites.with_attribute(("name", &*text(&output::companion(target))));
    counted(suites, &report.rows).write_inner_content(|writer| {
        let mut groups = report.rows.chunk_by(|a, b| a.rule.group == b.rule.group);
        groups.try_for_each(|rows| suite(writer, rows))
    })?;
    let mut xml = writer.into_inner();
    xml.push(b'\n');
    Ok(xml)
}

fn suite(writer: &mut Xml, rows: &[Row]) -> io::Result<()> {
    let suite = writer.create_element("testsuite");
    let suite = suite.with_attribute(("name", rows[0].rule.group.title()));
    let cases = |writer: &mut Xml| rows.iter().try_for_each(|row| case(writer, row));
    counted(suite, rows).write_inner_content(cases).map(drop)
}

fn case(writer: &mut Xml, row: &Row) -> io::Result<()> {
    let Row {
        rule,
        verdict,
        detail,
    } = row;
    let detail = text(detail);
    let message = ("message", &*detail);
    let name = format!("{} {}: {}", rule.id, rule.level, rule.title);
    let case = writer.create_element("testcase");
    let case = case.with_attribute(("classname", rule.group.title()));
    let case = case.with_attribute(("name", &*text(&name)));
    let result = |writer: &mut Xml| match verdict {
        Verdict::Pass => {
            let element = writer.create_element("system-out");
            element
                .write_text_content(BytesText::new(&detail))
                .map(drop)
        }
        Verdict::Fail => {
            let element = writer.create_element("failure");
            let element = element.with_attribute(("type", rule.level.keyword()));
            element.with_attribute(message).write_empty().map(drop)
        }
        Verdict::Skip => {
            let element = writer.create_element("skipped");
            element.with_attribute(message).write_empty().map(drop)
        }
    };
    case.write_inner_content(result).map(drop)
}

fn counted<'a>(element: ElementWriter<'a, Vec<u8>>, rows: &[Row]) -> ElementWriter<'a, Vec<u8>> {
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let [tests, failures, skipped] =
        [rows.len(), of(Verdict::Fail), of(Verdict::Skip)].map(|count| count.to_string());
    element
        .with_attribute(("tests", &*tests))
        .with_attribute(("failures", &*failures))
        .with_attribute(("skipped", &*skipped))
}

/// `text` without what XML cannot hold.
fn text(text: &str) -> String {
    visible::one_line(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
