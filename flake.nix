{
  description = "Finds, reads, repairs and keeps the sessions of your coding agents.";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      # The systems of the table in xtask/src/dist/targets.rs; a test compares them.
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "aarch64-darwin"
        "x86_64-darwin"
      ];
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
      package =
        pkgs:
        pkgs.rustPlatform.buildRustPackage {
          pname = "boswell";
          version = manifest.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package=boswell" ];
          # The tests start agents and browsers.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # A program for another system cannot generate its pages here.
          postInstall = pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            $out/bin/boswell man --output man
            installManPage man/*.1
            installShellCompletion --cmd boswell \
              --bash <($out/bin/boswell completions bash) \
              --zsh <($out/bin/boswell completions zsh) \
              --fish <($out/bin/boswell completions fish)
          '';
          meta = {
            description = "Finds, reads, repairs and keeps the sessions of your coding agents";
            license = [
              pkgs.lib.licenses.mit
              pkgs.lib.licenses.asl20
            ];
            mainProgram = "boswell";
          };
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
    };
}
