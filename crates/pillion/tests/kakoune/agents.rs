//! Real agents in terminals that Kakoune opens: `:pillion-run`.

use std::fs;

use pillion_testkit::{
    Agent, AgentKind, Home, KakouneSetup, KakouneVersion, Model, SOON, Size, Tmux,
};

use crate::world::{PILLION, may_accept};

const BEFORE: &str = "one\ntwo\nthree\n";
const PROPOSED: &str = "one\nTWO\nthree\nfour\n";

fn check(kind: AgentKind, version: KakouneVersion) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let path = home.file("poem.txt", BEFORE);
    let mut setup = KakouneSetup::new(version, &home)
        .arg(&path)
        .size(Size::new(240, 50))
        .knowing_tmux();
    for (name, value) in kind.env(home.env(), &model).iter() {
        match name.to_str() {
            Some("PATH") => setup = setup.path(value),
            _ => setup = setup.terminal_env(name, value),
        }
    }
    let kakoune = setup.pillion(PILLION).in_tmux(&tmux);
    kakoune.wait_until("Pillion running", "%opt{pillion_port}", |port| {
        port != ["0"]
    });
    kakoune.input("jxLL");
    kakoune.wait_value("%val{selection_desc}", "2.1,3.2");
    let arguments = kind.arguments().join(" ");
    kakoune.input(&format!(":pillion-run {} {arguments}<ret>", kind.name()));
    let own = kakoune.pane();
    own.wait_until("its terminal", SOON, |_| own.others().len() == 1);
    let pane = own.others().remove(0);
    let agent = Agent::attach(kind, pane.clone());
    let status = format!("{}/out/status", kakoune.get("%opt{pillion_dir}"));
    kakoune.wait_until("the agent connected", "%val{session}", |_| {
        !fs::read_to_string(&status).unwrap().contains("no agent")
    });

    let told = agent.ask(&model, "look at the selection");
    assert!(told.contains("twoth"), "no selection in {told}");

    agent.propose(&model, &path, PROPOSED);
    own.wait_until("a pane for the proposal", SOON, |_| own.others().len() == 2);
    assert!(pane.is_active(), "the person stays in the agent's terminal");
    let mut others = own.others().into_iter();
    let view = others.find(|it| it.pid() != pane.pid()).unwrap();
    view.activate();
    view.wait_until("a proposal that may be accepted", SOON, |_| {
        let ready = kakoune.list_in("pillion", "%opt{pillion_ready} %opt{readonly}");
        ready.is_some_and(|ready| may_accept(&ready))
    });
    view.type_text("geghGlcvier");
    kakoune.wait_until("the edit", "%val{session}", |_| {
        view.screen().contains("vier")
    });
    view.send_keys(["Escape"]);
    kakoune.wait_until("normal mode", "%val{session}", |_| {
        let mode = kakoune.list_in("pillion", "%opt{pillion_mode}");
        mode.is_some_and(|mode| mode == ["normal"])
    });
    view.type_text(":w\r");
    agent.wait_accepted("poem.txt");
    let after = PROPOSED.replace("four", "vier");
    assert_eq!(fs::read_to_string(path).unwrap(), after);
    kakoune.wait_until("the new text", "%val{bufname}", |_| {
        kakoune.text_in_focus() == after
    });
    view.wait_exit(SOON);
    kakoune.assert_no_errors();
}

#[test]
#[ignore = "in --all: needs the real agents and Kakoune: cargo xtask test --all"]
fn qwen_in_a_terminal_of_kakoune_2024_05() {
    check(AgentKind::Qwen, KakouneVersion::V2024_05);
}

#[test]
#[ignore = "needs the real agents and Kakoune: cargo xtask test"]
fn gemini_in_a_terminal_of_kakoune_2026_05() {
    check(AgentKind::Gemini, KakouneVersion::V2026_05);
}
