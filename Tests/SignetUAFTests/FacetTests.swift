import SignetJSON
import SignetUAF
import Testing

@Suite struct FacetTests {
  private static func list(_ text: String) throws -> TrustedFacetList {
    try TrustedFacetList(parsing: Array(text.utf8))
  }

  @Test("apps and pages of the same owner are trusted; other facets are dropped") func trusted() throws {
    let list = try Self.list(
      """
      {"trustedFacets":[{"version":{"major":1,"minor":0},"ids":["https://old.example.com"]},
      {"version":{"major":1,"minor":1},"ids":["https://example.com","https://www.example.com:8443",
      "HTTPS://Upper.Example.com","https://example.org","https://example.com/path","http://example.com",
      "https://*.example.com","https://a@example.com","ios:bundle-id:com.example","ios:bundle-id:*",
      "android:apk-key-hash:2jmj7l5rSw0yVb/vlWAYkK/YBwk","com.noknok.android.sampleapp","nothing","a b:c"]}]}
      """)
    let appID = try #require(WebOrigin("https://uaf.example.com/facets"))
    let expected: Set<String> = [
      "https://example.com", "https://www.example.com:8443", "HTTPS://Upper.Example.com",
      "ios:bundle-id:com.example", "android:apk-key-hash:2jmj7l5rSw0yVb/vlWAYkK/YBwk",
      "com.noknok.android.sampleapp",
    ]
    #expect(list.trusted(by: appID, version: .v1_1) == expected)
    #expect(list.trusted(by: appID, version: .v1_0) == ["https://old.example.com"])
    #expect(try TrustedFacetList(parsing: list.json.bytes) == list)
  }

  @Test("a list of an older version is used only if allowed") func versions() throws {
    let list = TrustedFacetList([.init(version: .v1_0, ids: ["ios:bundle-id:a"])])
    let appID = try #require(WebOrigin("https://example.com"))
    #expect(list.trusted(by: appID, version: .v1_1).isEmpty)
    #expect(list.trusted(by: appID, version: .v1_1, takesOlderVersions: true) == ["ios:bundle-id:a"])
    let newer = TrustedFacetList([.init(version: UAFVersion(major: 1, minor: 2), ids: ["ios:bundle-id:a"])])
    #expect(newer.trusted(by: appID, version: .v1_1, takesOlderVersions: true).isEmpty)
  }

  @Test("a public suffix has no owner") func suffix() throws {
    let appID = try #require(WebOrigin("https://co.uk/facets"))
    let facet = try #require(FacetID("https://shop.co.uk"))
    #expect(!facet.isAllowed(by: appID))
    let same = try #require(FacetID("https://co.uk"))
    #expect(same.isAllowed(by: appID))
  }

  @Test(
    "registrable domains",
    arguments: [
      ("example.com", "example.com"), ("a.www.example.com", "example.com"), ("a.shop.co.uk", "shop.co.uk"),
      ("a.me.github.io", "me.github.io"), ("id.bank.intern", "bank.intern"), ("www.ck", "www.ck"),
      ("a.b.xn--p1ai", "b.xn--p1ai"), ("com", nil), ("co.uk", nil), ("co.uk.", nil), ("a.co.uk.", nil),
      ("github.io", nil), ("b.ck", nil),
      ("localhost", nil), ("", nil), (".", nil), ("10.0.0.1", nil), ("[::1]", nil),
      ("[::ffff:10.0.0.1]", nil),
    ] as [(String, String?)])
  func registrableDomains(host: String, expected: String?) {
    #expect(PublicSuffixList.system.registrableDomain(of: host) == expected)
  }

  @Test(
    "malformed lists are refused",
    arguments: [
      "", "[]", "{}", #"{"trustedFacets":{}}"#, #"{"trustedFacets":[]}"#, #"{"trustedFacets":[{}]}"#,
      #"{"trustedFacets":[{"version":{"major":1,"minor":1}}]}"#,
      #"{"trustedFacets":[{"version":{"major":1,"minor":1},"ids":"a"}]}"#,
      #"{"trustedFacets":[{"version":{"major":1,"minor":1},"ids":[1]}]}"#,
      #"{"trustedFacets":[{"version":{"major":1,"minor":1},"ids":[""]}]}"#,
      #"{"trustedFacets":[{"version":{"major":1,"minor":1},"ids":[]},{"version":{"major":1,"minor":1},"ids":[]}]}"#,
    ])
  func malformed(text: String) {
    #expect(throws: MessageFailure.self) { _ = try Self.list(text) }
  }

  @Test("lists that are too large or nested too deeply are refused") func limits() throws {
    let ids = String(repeating: "\"ios:bundle-id:abcdefghijklmnopqrstuvwxyz\",", count: 4096) + "\"b:c\""
    let many = #"{"trustedFacets":[{"version":{"major":1,"minor":1},"ids":[\#(ids)]}]}"#
    #expect(throws: MessageFailure.member("trustedFacets[0].ids", .tooLong(4096))) { _ = try Self.list(many) }
    #expect(throws: MessageFailure.self) { _ = try Self.list(String(repeating: " ", count: 1 << 18) + "{}") }
    #expect(throws: MessageFailure.self) { _ = try Self.list(String(repeating: "[", count: 9)) }
  }

  @Test(
    "origins",
    arguments: [
      ("https://Example.COM", "https://example.com"), ("https://example.com:443", "https://example.com"),
      ("https://example.com:8443", "https://example.com:8443"), ("https://[::1]:1", "https://[::1]:1"),
      ("https://example.com/", nil), ("https://example.com?x", nil), ("https://", nil), ("http://a", nil),
      ("https://a:0", nil), ("https://a:65536", nil), ("https://a:", nil), ("https://-a", nil),
      ("https://a..b", nil), ("https://a_b", nil), ("https://a@b", nil), ("https://ex\u{E4}mple", nil),
      ("https://a\\b", nil), ("https://0x7f.1", nil), ("https://ex%61mple.com", nil), ("https://a:0443", nil),
      ("https://a#b", nil), ("https://127.0.0.1", "https://127.0.0.1"),
    ] as [(String, String?)])
  func origins(text: String, expected: String?) {
    #expect(WebOrigin(text, isOriginOnly: true)?.description == expected)
  }

  @Test("callers that are trusted without a list") func decisions() {
    #expect(FacetDecision(appID: nil, facetID: "ios:bundle-id:a") == .allowed(appID: "ios:bundle-id:a"))
    #expect(FacetDecision(appID: "", facetID: "ios:bundle-id:a") == .allowed(appID: "ios:bundle-id:a"))
    #expect(
      FacetDecision(appID: "ios:bundle-id:a", facetID: "ios:bundle-id:a")
        == .allowed(appID: "ios:bundle-id:a"))
    #expect(FacetDecision(appID: "ios:bundle-id:a", facetID: "ios:bundle-id:b") == .refused)
    #expect(FacetDecision(appID: "http://a.example/x", facetID: "ios:bundle-id:b") == .refused)
    let url = "https://a.example/facets"
    #expect(FacetDecision(appID: url, facetID: "https://a.example") == .allowed(appID: url))
    guard case .fetch(url, let origin) = FacetDecision(appID: url, facetID: "https://a.example:444") else {
      Issue.record("another port is another origin")
      return
    }
    #expect(origin.host == "a.example" && origin.port == 443)
  }
}
