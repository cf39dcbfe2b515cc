# Builds Pillion with Nix from this repository: `nix run .`. Its syntax is checked; Nix has not built it yet.
{
  description = "The IDE companion of terminal coding agents, for every editor";

  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in
    {
      packages = forEach (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "pillion";
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [
            "--package"
            "pillion"
          ];
          # Its tests want real editors and agents.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/pillion man --to man1
            installManPage man1/*.1
            for shell in bash fish zsh; do
              $out/bin/pillion completions $shell > pillion.$shell
            done
            installShellCompletion pillion.bash pillion.fish pillion.zsh
          '';
          meta = {
            mainProgram = "pillion";
            license = with pkgs.lib.licenses; [
              mit
              asl20
            ];
          };
        };
      });
    };
}
