//! The context of a companion that speaks Claude Code's protocol only: one file, and what is selected in
//! it.

use pillion_agent::ClientError;
use pillion_agent::claude::{Selection, Update, Updates};
use pillion_companion::now_ms;
use pillion_protocol::{Cursor, File, IdeContext};

use super::{FIRST, Printer};
use crate::agent_connection::{self, AgentConnection};

/// Prints what is selected now, or each time that it changes. Ends with the connection.
pub(super) async fn show(
    connection: &AgentConnection,
    printer: &mut Printer,
    follow: bool,
) -> anyhow::Result<()> {
    let (client, mut updates) = connection.connect_as_claude().await?;
    let first = tokio::time::timeout(FIRST, selection(&mut updates)).await;
    match first {
        Ok(Some(selection)) => printer.print(&context(selection))?,
        // Some companions tell only what changes.
        Ok(None) | Err(_) => printer.print_nothing()?,
    }
    if follow {
        while let Some(selection) = selection(&mut updates).await {
            printer.print(&context(selection))?;
        }
        return Err(agent_connection::failure(ClientError::NotConnected));
    }
    client.disconnect().await;
    Ok(())
}

async fn selection(updates: &mut Updates) -> Option<Selection> {
    loop {
        match updates.next().await? {
            Update::Selection(selection) => return Some(selection),
            Update::Mention(_) => {}
        }
    }
}

/// The same as agents of the companion contract would get it.
fn context(selection: Selection) -> IdeContext {
    let file = selection.path.map(|path| {
        let end = selection.range.end;
        File {
            cursor: Some(Cursor {
                line: end.line.saturating_add(1),
                character: end.character.saturating_add(1),
            }),
            selected_text: Some(selection.text).filter(|text| !text.is_empty()),
            selection: Some(selection.range),
            ..File::focused(path, now_ms())
        }
    });
    IdeContext::for_agents(file.into_iter().collect(), None)
}

#[cfg(test)]
mod tests {
    use pillion_protocol::context::{Position, Range};

    use super::*;

    #[test]
    fn a_selection_is_the_only_file() {
        let end = Position {
            line: 3,
            character: 2,
        };
        let selection = Selection {
            path: Some("/a".to_owned()),
            text: "x".to_owned(),
            range: Range {
                start: Position::default(),
                end,
            },
            ..Selection::default()
        };
        let shown = context(selection);
        let file = &shown.files()[0];
        assert_eq!((file.path.as_str(), file.is_focused()), ("/a", true));
        let cursor = file.cursor.unwrap();
        assert_eq!((cursor.line, cursor.character), (4, 3));
        assert_eq!(file.selected_text.as_deref(), Some("x"));
        assert!(context(Selection::default()).files().is_empty());
    }
}
