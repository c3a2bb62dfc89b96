import SignetHTTPClient
import Testing

@Suite("https URLs") struct HTTPSURLTests {
  @Test(
    "origin, host, port and path are the parts of the URL",
    arguments: [
      ("https://bank.example", "https://bank.example", "bank.example", 443, "/"),
      ("HTTPS://Bank.example:8443/a/b?c=d", "https://Bank.example:8443", "bank.example", 8443, "/a/b"),
      ("https://[2001:DB8::1]:443?x", "https://[2001:DB8::1]:443", "[2001:db8::1]", 443, "/"),
      ("https://[::1]/a", "https://[::1]", "[::1]", 443, "/a"),
      ("https://127.0.0.1:1/a/../b/./c", "https://127.0.0.1:1", "127.0.0.1", 1, "/a/../b/./c"),
      (
        "https://xn--bnk-qla.example/%2e%2E/a@b:c", "https://xn--bnk-qla.example", "xn--bnk-qla.example", 443,
        "/%2e%2E/a@b:c"
      ),
    ] as [(String, String, String, UInt16, String)])
  func parts(_ text: String, _ origin: String, _ host: String, _ port: UInt16, _ path: String) throws {
    let url = try #require(HTTPSURL(text))
    #expect((url.origin, url.host, url.port, url.path) == (origin, host, port, path))
  }

  @Test(
    "other schemes, users, fragments, and text between host and port are rejected",
    arguments: [
      "http://bank.example", "imaps://bank.example", "https://", "https:///a", "https://:443",
      "https://a@bank.example", "https://@bank.example", "https://a@a", "https://a:1@a:1",
      "https://bank.example\\@other.example", "https://bank.example#a", "https://bank.example?#a",
      "https://bank.example/ä", "https://bank .example", "https://bank.example/a b",
      "https://[::1]other.example", "https://[::1", "https://bank.example:8443x", "https://bank.example:8:9",
      "https://a/" + String(repeating: "a", count: 2039),
    ])
  func rejected(_ text: String) {
    #expect(HTTPSURL(text) == nil)
  }

  @Test(
    "what libcurl accepts and rewrites is rejected",
    arguments: [
      "https:/bank.example", "https:/a/", "https:///bank.example/a", "https://b%61nk.example",
      "https://0x7f.1/", "https://127.1", "https://2130706433", "https://017700000001", "https://1.2.3",
      "https://[0:0:0:0:0:0:0:1]", "https://[fe80::1%25eth0]", "https://[fe80::1%eth0]",
      "https://bank.example:", "https://bank.example:/a", "https://[::1]:", "https://bank.example:0",
      "https://bank.example:0443", "https://bank.example:65536", "https://bänk.example", "https://a|b",
      "https://bank.example/{a}", "https://bank.example/\"", "https://bank.example/a\u{7F}",
    ])
  func rewritten(_ text: String) {
    #expect(HTTPSURL(text) == nil)
  }
}
