import SignetSystem
import Testing

@Suite struct MarkupTextTests {
  @Test(arguments: [
    ("", ""), ("a é 漢", "a é 漢"), ("<b>", "&lt;b&gt;"), ("&amp;", "&amp;amp;"), ("\"'", "&quot;&#39;"),
    ("\u{0301}<", "\u{0301}&lt;"), ("<\u{0338}", "&lt;\u{0338}"),
  ])
  func escapes(_ text: String, _ escaped: String) { #expect(MarkupText.escaped(text) == escaped) }
}
