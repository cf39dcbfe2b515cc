//! The description that an installation of VS Code's family gives of itself: in `product.json`, above its command.

use std::path::Path;

use pillion_discovery::canonicalize;
use serde::Deserialize;

use super::read_json;

/// The part of it that matters here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product {
    /// The name of its command, also where a link has another one.
    pub application_name: String,
    /// The folder of its extensions, below the home folder.
    data_folder_name: Option<String>,
    /// The same of its server, to which a window elsewhere is connected.
    server_data_folder_name: Option<String>,
    #[serde(skip)]
    is_server: bool,
}

impl Product {
    /// That of the installation that a command belongs to; none where that is unknown, such as in
    /// a Snap.
    pub fn of(program: &Path) -> Option<Self> {
        let program = canonicalize(program).ok()?;
        // `bin/code` on a Mac and in a server's `bin/remote-cli`, `bin/code` beside `resources`.
        let above = program.ancestors().skip(2).take(2);
        let mut files = above.flat_map(|folder| {
            ["product.json", "resources/app/product.json"].map(|it| folder.join(it))
        });
        let mut product: Self = files.find_map(|file| read_json(&file))?;
        product.is_server = program
            .parent()
            .is_some_and(|bin| bin.ends_with("remote-cli"));
        Some(product)
    }

    /// The folder of its extensions, below the home folder.
    pub fn folder(&self) -> Option<&str> {
        let folder = if self.is_server {
            &self.server_data_folder_name
        } else {
            &self.data_folder_name
        };
        // A name, nothing that leads elsewhere.
        folder.as_deref().filter(|name| !name.contains(['/', '\\']))
    }
}
