class Overspill < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "@LICENSE@"

@URLS@

  def install
    bash_completion.install "share/bash-completion/completions/overspill"
    prefix.install "bin", "share"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/overspill --version")
  end
end
