import SignetSystem
import Testing

@Suite("https URLs") struct HTTPSURLTests {
  @Test(
    "origin, host and path are the parts of the URL",
    arguments: [
      ("https://bank.example", "https://bank.example", "bank.example", "/"),
      ("HTTPS://Bank.example:8443/a/b?c=d", "https://Bank.example:8443", "bank.example", "/a/b"),
      ("https://[2001:DB8::1]:443?x", "https://[2001:DB8::1]:443", "[2001:db8::1]", "/"),
      ("https://[::1]/a", "https://[::1]", "[::1]", "/a"),
    ])
  func parts(_ text: String, _ origin: String, _ host: String, _ path: String) throws {
    let url = try #require(HTTPSURL(text))
    #expect((url.origin, url.host, url.path) == (origin, host, path))
  }

  @Test(
    "other schemes, users, fragments, and text between host and port are rejected",
    arguments: [
      "http://bank.example", "https://", "https:///a", "https://:443", "https://a@bank.example",
      "https://bank.example\\@other.example", "https://bank.example#a", "https://bank.example/ä",
      "https://bank .example",
      "https://[::1]other.example", "https://[::1", "https://bank.example:8443x", "https://bank.example:8:9",
    ])
  func rejected(_ text: String) {
    #expect(HTTPSURL(text) == nil)
  }
}
