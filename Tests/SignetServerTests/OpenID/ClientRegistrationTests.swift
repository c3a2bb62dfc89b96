import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Registration of clients by an operator, and the provider's metadata.
@Suite(.timeLimit(.minutes(10))) struct ClientRegistrationTests {
  private static func body(_ change: (inout JSONObject) -> Void = { _ in }) throws -> JSONObject {
    let key = P256.Signing.PrivateKey().publicKey
    var body: JSONObject = [
      "name": "Shop", "authentication": "private_key_jwt", "delivery": "poll",
      "jwks": ["keys": [.object(try JWK(key, keyID: "k").publicObject())]],
    ]
    change(&body)
    return body
  }

  @Test func keepsWhatWasSaid() async throws {
    let server = try ServerFixture()
    let clients = ClientService(server.context)
    let made = try await clients.add(
      ClientRegistration(
        NewClient(
          Self.body {
            $0["delivery"] = "push"
            $0["notificationEndpoint"] = "https://client.example.org:8443/cb?x=1"
            $0["requestAlgorithm"] = "ES256"
            $0["numberDigits"] = 3
          })), by: .local)
    #expect(made.secret == nil)
    let found = try await clients.find(made.record.id)
    #expect(found == made.record && found.delivery == .push && found.numberDigits == 3)
    let second = try await clients.add(
      ClientRegistration(
        NewClient(
          Self.body {
            $0["authentication"] = "client_secret_basic"
            $0["jwks"] = nil
          })), by: .local)
    let secret = try #require(second.secret)
    #expect(second.record.secretDigest == HashFunction.sha256.digest(of: Array(secret.utf8)))
    #expect(
      try await clients.all().map(\.id.text).sorted()
        == [made.record.id.text, second.record.id.text].sorted())
    try await clients.revoke(made.record.id, by: .local)
    let revoked = try await clients.find(made.record.id).revoked
    server.clock.advance(by: 5)
    try await clients.revoke(made.record.id, by: .local)
    #expect(try await clients.find(made.record.id).revoked == revoked)
    #expect(try await problem { try await clients.revoke("x", by: .local) } == .unknown)
    #expect(try await problem { try await clients.find("x") } == .unknown)
    #expect(try await !server.audit().joined().contains(secret))
  }

  /// Rejected registrations.
  static let refusals: [(String, @Sendable (inout JSONObject) -> Void)] = [
    ("no name", { $0["name"] = nil }), ("an empty name", { $0["name"] = "" }),
    ("a name of two lines", { $0["name"] = "a\nb" }),
    ("another way to authenticate", { $0["authentication"] = "none" }),
    ("another delivery", { $0["delivery"] = "mail" }),
    ("ping to nowhere", { $0["delivery"] = "ping" }),
    ("poll to somewhere", { $0["notificationEndpoint"] = "https://a.example/" }),
    (
      "a plain endpoint",
      {
        $0["delivery"] = "ping"
        $0["notificationEndpoint"] = "http://a.example/"
      }
    ),
    (
      "an endpoint with a user",
      {
        $0["delivery"] = "ping"
        $0["notificationEndpoint"] = "https://u@a.example/"
      }
    ),
    (
      "an endpoint with a fragment",
      {
        $0["delivery"] = "ping"
        $0["notificationEndpoint"] = "https://a.example/#x"
      }
    ),
    (
      "an endpoint without a host",
      {
        $0["delivery"] = "ping"
        $0["notificationEndpoint"] = "https:///cb"
      }
    ),
    (
      "an endpoint whose host libcurl would rewrite",
      {
        $0["delivery"] = "ping"
        $0["notificationEndpoint"] = "https://0x7f.1/cb"
      }
    ),
    ("no keys", { $0["jwks"] = nil }), ("an empty set", { $0["jwks"] = ["keys": []] }),
    ("a shared key", { $0["jwks"] = ["keys": [["kty": "oct", "k": "AAAA"]]] }),
    ("an unknown kind of key", { $0["jwks"] = ["keys": [["kty": "OKP", "crv": "Ed25519", "x": "AAAA"]]] }),
    ("no key at all", { $0["jwks"] = ["keys": ["x"]] }),
    ("an algorithm that is none", { $0["requestAlgorithm"] = "none" }),
    ("an algorithm without a key", { $0["requestAlgorithm"] = "RS256" }),
    ("one digit", { $0["numberDigits"] = 1 }), ("seven digits", { $0["numberDigits"] = 7 }),
  ]

  @Test(arguments: refusals.indices) func refuses(_ index: Int) throws {
    let body = try Self.body(Self.refusals[index].1)
    #expect(throws: Problem.self, "\(Self.refusals[index].0)") { try ClientRegistration(NewClient(body)) }
  }

  @Test("a private key is refused, and only public members are stored")
  func keepsPublicMembersOnly() throws {
    let key = P256.Signing.PrivateKey()
    var jwk = try JWK(key.publicKey, keyID: "k").publicObject()
    jwk["d"] = .string(Base64URL.insecureEncode(key.rawRepresentation))
    let withPrivate = try Self.body { $0["jwks"] = ["keys": [.object(jwk)]] }
    #expect(throws: Problem.self) { try ClientRegistration(NewClient(withPrivate)) }
    jwk["d"] = nil
    jwk["x5c"] = ["x"]
    let registration = try ClientRegistration(NewClient(Self.body { $0["jwks"] = ["keys": [.object(jwk)]] }))
    let kept = try JSONObject(parsing: #require(registration.keySet))
    jwk["x5c"] = nil
    #expect(kept == ["keys": [.object(jwk)]])
  }

  @Test func saysWhatItDoes() async throws {
    let fixture = try await OpenIDFixture()
    let names = OpenIDNames(fixture.server.context.settings.serverURL)
    var requirements = NamedRequirements()
    requirements.own["payments"] = AuthenticationRequirement()
    let found = names.discovery(requirements)
    #expect(try found.string("issuer") == "https://id.example.org/main")
    #expect(try found.string("token_endpoint") == "https://id.example.org/main/oidc/token")
    #expect(
      try found.string("backchannel_authentication_endpoint")
        == "https://id.example.org/main/oidc/bc-authorize")
    #expect(try found.string("jwks_uri") == "https://id.example.org/main/v1/jwks")
    #expect(try found.strings("backchannel_token_delivery_modes_supported") == ["poll", "ping", "push"])
    #expect(try found.strings("id_token_signing_alg_values_supported") == ["ES256"])
    #expect(
      try found.strings("acr_values_supported") == [
        "phr", "phrh", "urn:signet:acr:signed", "urn:signet:acr:answered", "urn:signet:acr:uaf", "payments",
      ])
  }
}
