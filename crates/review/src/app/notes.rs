//! The facts that the reviewer should know about the diff that is shown, in a line above it.

use super::App;

impl App {
    /// The note on the current view, as one line: what is most important of the view, and
    /// all that is to be known of the agent.
    pub fn note(&self) -> Option<String> {
        let view = self.view()?;
        let facts = view.facts(!self.roots.is_empty(), &self.keys);
        let parts: Vec<String> = facts.into_iter().chain(view.notes_of_agent()).collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}
