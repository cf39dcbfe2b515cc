# A formula for a tap. `cargo xtask dist` fills in version, address and checksums. Its syntax is checked; it has not
# been installed with Homebrew yet.
class Pillion < Formula
  desc "IDE companion of terminal coding agents, for every editor"
  homepage "@ADDRESS@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@ADDRESS@/releases/download/v@VERSION@/pillion-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "@ADDRESS@/releases/download/v@VERSION@/pillion-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@ADDRESS@/releases/download/v@VERSION@/pillion-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@ADDRESS@/releases/download/v@VERSION@/pillion-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "pillion"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/pillion.bash" => "pillion"
    fish_completion.install "completions/pillion.fish"
    zsh_completion.install "completions/_pillion"
  end

  def caveats
    "`pillion install --list` shows the editors that it has a plugin for."
  end

  test do
    assert_equal "pillion #{version}", shell_output("#{bin}/pillion --version").strip
  end
end
