class Boswell < Formula
  desc "@DESCRIPTION@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@SYSTEMS@

  def install
    bin.install "boswell"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/boswell.bash" => "boswell"
    zsh_completion.install "completions/_boswell"
    fish_completion.install "completions/boswell.fish"
  end

  test do
    system bin/"boswell", "demo", testpath/"demo"
    assert_match version.to_s, shell_output("#{bin}/boswell --version")
  end
end
