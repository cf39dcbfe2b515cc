//! A `.vsix`: the file with an extension, as VS Code, its forks and their marketplaces take it. It is a zip with a description
//! of its own beside the extension's folder.
//!
//! `cargo xtask dist` packs those for marketplaces with this file, too.

use std::io::Write as _;

use anyhow::Context;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::Value;

/// The folder of the extension's files.
const FOLDER: &str = "extension";

/// The program, where the extension has it beside itself.
const PROGRAMS: [&str; 2] = ["extension/bin/pillion", "extension/bin/pillion.exe"];

/// For who writes the extension.
const NOT_PACKED: [&str; 2] = ["jsconfig.json", "tsconfig.json"];

/// Packs these files, by their paths below the extension's folder. With a `platform`, such as `linux-x64`, it is for that alone.
///
/// # Errors
/// If there is no `package.json` among them that says what it has to.
pub fn packed<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    platform: Option<&str>,
) -> anyhow::Result<Vec<u8>> {
    let files: Vec<_> = { files.into_iter() }
        .filter(|(path, _)| !NOT_PACKED.contains(path))
        .collect();
    let manifest = files.iter().find(|(path, _)| *path == "package.json");
    let (_, manifest) = manifest.context("the extension has no package.json")?;
    let manifest = serde_json::from_slice(manifest).context("package.json")?;
    let mut archive = ZipArchiveWriter::new(Vec::new());
    let described = described(&manifest, platform)?;
    add(&mut archive, "extension.vsixmanifest", described.as_bytes())?;
    add(&mut archive, "[Content_Types].xml", TYPES.as_bytes())?;
    for (path, text) in files {
        add(&mut archive, &format!("{FOLDER}/{path}"), text)?;
    }
    Ok(archive.finish()?)
}

fn add(archive: &mut ZipArchiveWriter<Vec<u8>>, path: &str, text: &[u8]) -> anyhow::Result<()> {
    let is_program = PROGRAMS.contains(&path);
    let mode = if is_program { 0o755 } else { 0o644 };
    let (mut entry, config) = archive
        .new_file(path)
        .compression_method(CompressionMethod::DEFLATE)
        .unix_permissions(0o100_000 | mode)
        .start()?;
    let mut packed = config.wrap(DeflateEncoder::new(&mut entry, Compression::best()));
    packed.write_all(text)?;
    let (encoder, sizes) = packed.finish()?;
    encoder.finish()?;
    entry.finish(sizes)?;
    Ok(())
}

/// What the extension is, for installers.
fn described(manifest: &Value, platform: Option<&str>) -> anyhow::Result<String> {
    let word = |of: &Value, name: &str| {
        let word = of[name].as_str().map(escaped);
        word.with_context(|| format!("package.json has no {name}"))
    };
    let platform = platform.map_or(String::new(), |it| format!(" TargetPlatform=\"{it}\""));
    let kinds = manifest["extensionKind"].as_array().into_iter().flatten();
    let kinds: Vec<_> = kinds.filter_map(Value::as_str).collect();
    Ok(format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"{platform}/>
    <DisplayName>{display_name}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="{engine}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="{kinds}"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
  </Assets>
</PackageManifest>
"#,
        name = word(manifest, "name")?,
        version = word(manifest, "version")?,
        publisher = word(manifest, "publisher")?,
        display_name = word(manifest, "displayName")?,
        description = word(manifest, "description")?,
        engine = word(&manifest["engines"], "vscode")?,
        kinds = escaped(&kinds.join(",")),
    ))
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// What the files are, by the ends of their names.
const TYPES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".md" ContentType="text/markdown"/>
  <Default Extension=".png" ContentType="image/png"/>
  <Default Extension=".svg" ContentType="image/svg+xml"/>
  <Default Extension=".txt" ContentType="text/plain"/>
  <Default Extension=".exe" ContentType="application/octet-stream"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
  <Override PartName="/extension/bin/pillion" ContentType="application/octet-stream"/>
  <Override PartName="/extension/LICENSE-APACHE" ContentType="text/plain"/>
  <Override PartName="/extension/LICENSE-MIT" ContentType="text/plain"/>
</Types>
"#;
