import SignetTerminal
import Testing

@Suite struct ShellWordTests {
  @Test(
    "a word is quoted where a shell would read more from it",
    arguments: [
      ("./bank", "./bank"), ("/srv/a-b_c.d:8443", "/srv/a-b_c.d:8443"), ("", "''"), ("my bank", "'my bank'"),
      ("a'b", #"'a'\''b'"#), ("$HOME", "'$HOME'"), ("~bank", "'~bank'"), ("ü", #"$'\303\274'"#),
      ("a'\u{301} ;b", #"$'a\047\314\201 ;b'"#),
      ("a\nb'\\7", #"$'a\012b\047\1347'"#), ("a\u{202E}ü", #"$'a\342\200\256\303\274'"#),
    ])
  func words(_ text: String, _ word: String) {
    #expect(shellWord(text) == word)
  }
}
