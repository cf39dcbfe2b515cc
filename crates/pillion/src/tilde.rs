//! Paths for people: the home folder is `~`.

use std::path::Path;

use pillion_text::visible;

/// `path` safe for a terminal, with `~` for `home`.
pub fn shown(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let text = match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => Path::new("~").join(below).display().to_string(),
        None => path.display().to_string(),
    };
    visible::one_line(&text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_the_home_folder_is_shortened() {
        let home = Some(Path::new("/home/a"));
        let shown = |path: &str| shown(Path::new(path), home);
        assert_eq!(shown("/home/a"), "~");
        assert_eq!(shown("/home/a/b c"), "~/b c");
        assert_eq!(shown("/home/ab"), "/home/ab");
        assert_eq!(shown("/tmp/\u{1b}[2J"), "/tmp/␛[2J");
    }
}
