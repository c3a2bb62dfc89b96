import SignetTerminal
import SignetTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct ShellWordTests {
  @Test(
    "a word is quoted if a shell would interpret it",
    arguments: [
      ("./bank", "./bank"), ("/srv/a-b_c.d:8443", "/srv/a-b_c.d:8443"), ("", "''"), ("my bank", "'my bank'"),
      ("a'b", #"'a'\''b'"#), ("$HOME", "'$HOME'"), ("~bank", "'~bank'"), ("ü", "'ü'"),
      ("/srv/Müller's банк/銀行१", #"'/srv/Müller'\''s банк/銀行१'"#),
      // Characters that a terminal may join, move, hide or show as others: marks, parts of a syllable, right-to-left text,
      // blanks, KELVIN SIGN.
      ("u\u{308}", #""$(printf 'u\314\210')""#),
      ("\u{1112}\u{1161}", #""$(printf '\341\204\222\341\205\241')""#),
      ("\u{5D0}", #""$(printf '\327\220')""#), ("\u{661}", #""$(printf '\331\241')""#),
      ("\u{3164}", #""$(printf '\343\205\244')""#), ("\u{A0}", #""$(printf '\302\240')""#),
      ("\u{212A}", #""$(printf '\342\204\252')""#), ("€", #""$(printf '\342\202\254')""#),
      ("a'\u{301} ;b", #""$(printf 'a\047\314\201\040\073b')""#), (#"a\b"#, #""$(printf 'a\134b')""#),
      ("a\nb'\\7", #""$(printf 'a\012b\047\1347')""#), ("-%d\u{1B}", #""$(printf '\055\045d\033')""#),
      ("a\u{202E}ü", #""$(printf 'a\342\200\256\303\274')""#), ("a\n", #"$'a\012'"#),
    ])
  func words(_ text: String, _ word: String) {
    #expect(shellWord(text) == word)
  }

  @Test(
    "each shell reads a quoted word back as its text", arguments: ["bash", "zsh", "fish", "dash"])
  func shells(_ shell: String) throws {
    guard installed(shell) != nil || ContinuousIntegration.isHere else { try Test.cancel("needs \(shell)") }
    let path = try #require(installed(shell))
    let texts = [
      "ü", "/srv/Müller's банк/銀行१", "u\u{308}", "\u{202E}-a b", "-%d%%\u{1B}",
      "a\nb'\\7 $HOME `x` \"y\" \\n", "\\", "'",
    ]
    for text in texts {
      let result = try runTool(path, ["-c", "printf '<%s>' \(shellWord(text))"])
      #expect(
        result.status == 0 && result.output.unicodeScalars.elementsEqual("<\(text)>".unicodeScalars),
        "\(result)")
    }
  }
}
