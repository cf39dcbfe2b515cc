//! The files that agents have written already, for a plugin: its list, and the person's actions on it.

use std::path::PathBuf;

use lsp_server::RequestId;
use pillion_protocol::verdict::Lines;
use pillion_view::changes::{
    ActDone, BufferText, ChangesAct, ChangesList, Meant, TakeBack as ViewTakeBack,
};
use serde::Serialize;
use serde_json::Value;

use super::messages::{Acted, Buffer, Edit, Keep, TakeBack, Undo};
use crate::profile::Action;
use crate::{message, uri};

/// The person keeps changes.
pub fn keep(request: RequestId, params: Value) -> Action {
    let act = message::params(params).and_then(|params: Keep| {
        let meant = meant(params.id, params.uri, params.typed)?;
        Ok(ChangesAct::Keep(Meant {
            revision: params.revision,
            notes: params.notes.unwrap_or_default(),
            ..meant
        }))
    });
    act_on(request, act)
}

/// The person takes changes back.
pub fn take_back(request: RequestId, params: Value) -> Action {
    let act = message::params(params).and_then(|params: TakeBack| {
        let buffers = params.buffers.unwrap_or_default().into_iter();
        Ok(ChangesAct::TakeBack(ViewTakeBack {
            meant: Meant {
                revision: params.revision,
                notes: params.notes.unwrap_or_default(),
                ..meant(params.id, params.uri, params.typed)?
            },
            lines: params.lines.map(range).transpose()?,
            buffers: buffers.map(buffer).collect::<Result<_, _>>()?,
        }))
    });
    act_on(request, act)
}

/// The person undoes that they have taken something back.
pub fn undo(request: RequestId, params: Value) -> Action {
    let act = message::params(params).map(|Undo { id }| ChangesAct::Undo(id));
    act_on(request, act)
}

fn act_on(request: RequestId, act: Result<ChangesAct, String>) -> Action {
    match act {
        Ok(act) => Action::Act {
            request: Some(request),
            act,
        },
        Err(why) => Action::invalid(request, why),
    }
}

fn path(uri: &str) -> Result<PathBuf, String> {
    uri::to_path(uri).ok_or_else(|| "uri: not a file".to_owned())
}

fn meant(id: Option<String>, uri: Option<String>, typed: Option<String>) -> Result<Meant, String> {
    let path = uri.as_deref().map(path).transpose()?;
    if id.is_none() && path.is_none() && typed.is_none() {
        return Err("neither id nor uri nor typed is there".to_owned());
    }
    Ok(Meant {
        id,
        path,
        typed,
        ..Meant::default()
    })
}

fn range(lines: Lines) -> Result<std::ops::Range<usize>, String> {
    match lines.first <= lines.last {
        true => Ok(lines.first as usize..lines.last as usize + 1),
        false => Err("lines: the last comes before the first".to_owned()),
    }
}

fn buffer(buffer: Buffer) -> Result<BufferText, String> {
    Ok(BufferText {
        path: path(&buffer.uri)?,
        content: buffer.content,
        is_modified: buffer.is_modified,
    })
}

/// The answer to a request for the list: what other views get, with the URI of each file and a line about each change.
pub fn listed(request: Option<RequestId>, list: &ChangesList) -> Option<Action> {
    Some(Action::answer(request?, Ok(told(list))))
}

/// The list in the words of the editor protocol.
pub fn told(list: &ChangesList) -> Value {
    let mut answer = serde_json::to_value(list).unwrap_or_default();
    for (turn, at) in list.turns.iter().zip(0..) {
        let turn_told = &mut answer["turns"][at];
        // A plugin makes its own of the turn's other fields.
        turn_told.as_object_mut().map(|it| it.remove("heading"));
        for (change, at) in turn.changes.iter().zip(0..) {
            let told = &mut turn_told["changes"][at];
            told["uri"] = uri::from_path(&change.path).into();
            told["path"] = change.path.to_string_lossy().into();
            told["label"] = change.label().into();
        }
    }
    answer
}

/// The answer to whoever did something.
pub fn acted(request: Option<RequestId>, done: ActDone) -> Option<Action> {
    let edits = done.edits.into_iter().map(|edit| Edit {
        uri: uri::from_path(&edit.path),
        path: edit.path.to_string_lossy().into_owned(),
        id: edit.id,
        content: edit.content,
    });
    let answer = Acted {
        done: done.done,
        message: done.message,
        edits: edits.collect(),
    };
    Some(answered(request?, &answer))
}

fn answered(request: RequestId, answer: &impl Serialize) -> Action {
    let answer = serde_json::to_value(answer).unwrap_or_default();
    Action::answer(request, Ok(answer))
}
