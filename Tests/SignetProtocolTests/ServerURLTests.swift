import SignetProtocol
import SignetTestKit
import Testing

@Suite("Server URLs")
struct ServerURLTests {
  @Test(
    "valid URLs are read and written in one form",
    arguments: [
      ("auth.example.com/BANK", "https://auth.example.com/BANK"),
      ("https://auth.example.com/BANK", "https://auth.example.com/BANK"),
      ("HTTPS://Auth.EXAMPLE.com:443/Bank", "https://auth.example.com/Bank"),
      ("auth.example.com:8443/b", "https://auth.example.com:8443/b"),
      ("localhost:65535/a-b.c_d~e", "https://localhost:65535/a-b.c_d~e"),
      ("127.0.0.1:1/d", "https://127.0.0.1:1/d"),
      ("[::1]/d", "https://[::1]/d"),
      ("[2001:DB8:0:0:0:0:0:1]:8443/d", "https://[2001:db8::1]:8443/d"),
      ("xn--bcher-kva.example/d", "https://xn--bcher-kva.example/d"),
      ("1e100.net/d", "https://1e100.net/d"),
    ])
  func reads(_ text: String, _ written: String) throws {
    let url = try ServerURL(text)
    #expect(url.description == written)
    #expect(try ServerURL(written) == url, "the written form reads back")
  }

  @Test("the parts, and URLs below the domain")
  func parts() throws {
    let url = try ServerURL("Auth.Example.com:8443/BANK")
    #expect(url.host == "auth.example.com")
    #expect(url.port == 8443)
    #expect(url.domain == "BANK")
    #expect(url.origin == "https://auth.example.com:8443")
    #expect(url.url(path: "/v1/keys") == "https://auth.example.com:8443/BANK/v1/keys")
    #expect(url.url(path: "v1/keys") == "https://auth.example.com:8443/BANK/v1/keys")
  }

  @Test(
    "invalid URLs are refused with the reason",
    arguments: [
      ("http://a.test/d", .plainHTTP), ("HTTP://a.test/d", .plainHTTP),
      ("ftp://a.test/d", .unknownScheme), ("://a.test/d", .unknownScheme),
      ("u@a.test/d", .userInformation), ("https://u:p@a.test/d", .userInformation),
      ("a.test/d@e", .userInformation), ("a.test/d?e", .query), ("a.test/d#e", .fragment),
      ("a.test", .missingDomain), ("a.test/", .missingDomain), ("a.test/d/", .domain),
      ("a.test/d/e", .domain), ("a.test/..", .domain), ("a.test/.", .domain), ("a.test/%41", .domain),
      ("a.test/\u{E9}", .domain), ("a.test\\d", .host), ("a.test:/d", .port), ("a.test:0/d", .port),
      ("a.test:65536/d", .port), ("a.test:+1/d", .port), ("a.test:01/d", .port), ("a.test:1:2/d", .port),
      ("a.test:1٢/d", .port), ("a.test:99999999999999999999/d", .port),
      ("b\u{FC}cher.test/d", .internationalHost),
      ("a.test\u{301}/d", .internationalHost), ("", .host), ("/d", .host), ("https:///d", .host),
      ("a..test/d", .host), (".a/d", .host), ("a./d", .host), ("-a.test/d", .host), ("a-.test/d", .host),
      ("a_b.test/d", .host), ("1.2.3/d", .host), ("1.2.3.4.5/d", .host), ("1.2.3.256/d", .host),
      ("01.2.3.4/d", .host), ("0x7f.1/d", .host), ("0x7f.0.0.0x1/d", .host), ("2130706433/d", .host),
      ("[::1/d", .host), ("[]/d", .host), ("[::1]x/d", .host), ("[::1]:/d", .port), ("[1.2.3.4]/d", .host),
      ("[fe80::1%25eth0]/d", .host), ("[:::1]/d", .host), ("::1/d", .host),
      ("a.test/d ", .forbiddenCharacter),
      ("a.test/d\r\n", .forbiddenCharacter), ("a\0.test/d", .forbiddenCharacter),
      ("a.test/d\u{7F}", .forbiddenCharacter),
    ] as [(String, ServerURLFailure)])
  func refuses(_ text: String, _ failure: ServerURLFailure) {
    #expect(throws: failure) { try ServerURL(text) }
  }

  @Test("128 characters after the scheme are the most")
  func length() throws {
    let longest = "a.test/" + String(repeating: "d", count: 121)
    #expect(try ServerURL(longest).description == "https://\(longest)")
    #expect(try ServerURL("https://\(longest)").domain.utf8.count == 121)
    #expect(throws: ServerURLFailure.tooLong) { try ServerURL(longest + "d") }
    #expect(throws: ServerURLFailure.tooLong) { try ServerURL("https://\(longest)d") }
    #expect(throws: ServerURLFailure.tooLong) { try ServerURL(String(repeating: "a", count: 1 << 20)) }
    let label = String(repeating: "a", count: 63)
    #expect(try ServerURL("\(label)/d").host == label)
    #expect(throws: ServerURLFailure.host) { try ServerURL("\(label)a/d") }
  }

  @Test("text of any bytes is read or refused")
  func anyBytes() {
    var generator = SeededRandom(test: "server URLs of any bytes")
    let alphabet = Array("aA0-.:/[]@?#%~_\\x \u{E9}\u{301}\r\0".unicodeScalars)
    for _ in 0..<20_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...20, using: &generator) {
        text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
      }
      guard let url = Result(catching: { try ServerURL(String(text)) }).value else { continue }
      let again = Result { try ServerURL(url.description) }
      #expect(again.value == url, "\(text.map(\.value))")
    }
  }
}

extension Result {
  fileprivate var value: Success? {
    if case .success(let value) = self { value } else { nil }
  }
}
