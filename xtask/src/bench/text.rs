//! The texts that the benchmark proposes: like source code, with line ends and quotes that JSON
//! escapes, and some characters beyond ASCII.

/// The sizes in bytes of UTF-8.
pub const SIZES: [usize; 4] = [1 << 10, 10 << 10, 100 << 10, 1 << 20];

const SAMPLE: &str = r#"/** Reads the settings; "defaults" fill what is missing. */
export async function readSettings(folder: string): Promise<Settings> {
	const file = path.join(folder, "settings.json");
	let text: string;
	try {
		text = await fs.readFile(file, "utf8");
	} catch (error) {
		if (isMissing(error)) return { ...defaults };
		throw new Error(`cannot read ${file}: ${String(error)}`, { cause: error });
	}
	// Grüße an alle: a price of 10 € and a path such as "C:\\temp\\ä" must survive.
	const settings = JSON.parse(text.replace(/^\uFEFF/, "")) as Partial<Settings>;
	for (const [key, value] of Object.entries(settings)) {
		if (!(key in defaults)) console.warn(`unknown setting "${key}": ${value} → ignored`);
	}
	return { ...defaults, ...settings };
}

"#;

/// A text of exactly `size` bytes.
pub fn of(size: usize) -> String {
    let mut text = SAMPLE.repeat(size / SAMPLE.len() + 1);
    text.truncate(text.floor_char_boundary(size));
    let missing = size - text.len();
    text + &" ".repeat(missing)
}

/// A size as people write it.
pub fn name(size: usize) -> String {
    match size {
        0x10_0000.. => format!("{} MB", size >> 20),
        _ => format!("{} KB", size >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_size() {
        for size in SIZES.into_iter().chain(600..640) {
            assert_eq!(of(size).len(), size);
        }
        assert_eq!(SIZES.map(name), ["1 KB", "10 KB", "100 KB", "1 MB"]);
    }
}
