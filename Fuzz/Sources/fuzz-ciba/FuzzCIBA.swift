import LibFuzzer
import SignetCrypto
@testable import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetPolicy
import SignetProtocol
@testable import SignetSQL

// The parsers of clients' requests are not public: endpoints return their results.
@testable import SignetServer
@testable import SignetStorage
import SignetSystem

@main struct FuzzCIBA {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkForm(input)
    checkTokens(input, text)
    checkRegistration(input)
    if let (id, secret) = ClientAuthentication.credentials(text) {
      for part in [id, secret] {
        require(!part.utf8.contains { $0 < 0x20 }, "no control character comes through")
      }
    }
  }

  // MARK: Forms

  private static func checkForm(_ input: [UInt8]) {
    if let form = accepted({ () throws(OpenIDFailure) in try FormParameters(input) }) { check(form) }
  }

  private static func check(_ form: FormParameters) {
    guard let request = accepted({ () throws(OpenIDFailure) in try BackchannelRequest(form) }) else { return }
    let hints = ["login_hint", "login_hint_token", "id_token_hint"]
    require(hints.count { form[$0] != nil } == 1, "one hint")
    if let message = request.bindingMessage {
      require(message.unicodeScalars.count <= 128 && !message.contains("\n"), "a message is one line")
      let content = made("a content") { () throws(WireFailure) in
        try TransactionContent(.text(message), from: .relyingParty("Bank"))
      }
      require(content.json.utf8.count <= TransactionContent.maximumByteCount, "a message fits")
    }
    if let expiry = request.expiry {
      require((1...BackchannelRequest.longestExpiry).contains(expiry), "an expiry is bounded")
    }
    if let token = request.notificationToken {
      require(
        token.utf8.count <= 1_024 && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a token is ASCII")
    }
  }

  // MARK: Tokens

  /// No seed is signed with it.
  private static let key = made("a key") { () throws(CryptoFailure) in
    try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](65...96)))
  }
  private static let now: Int64 = 1_700_000_000
  private static let client: ClientRecord = {
    var client = ClientRecord(
      id: made("an id") { () throws(WireFailure) in try ID("c1") }, name: "Bank",
      authentication: .privateKeyJWT, delivery: .poll, created: 1)
    let jwk = made("a key") { () throws(JOSEFailure) in try JWK(key.publicKey).publicObject() }
    let keys: JSONObject = ["keys": [.object(jwk)]]
    client.keySet = keys.bytes
    return client
  }()

  private static func claims(of text: String) -> JWTClaims? {
    guard let token = accepted({ () throws(JOSEFailure) in try ClientToken(text) }) else { return nil }
    _ = token.unverifiedSubject
    return accepted { () throws(JOSEFailure) in
      try token.claims(
        of: client, signedWith: OpenIDNames.clientAlgorithms, for: ["https://a.example/main"], types: ["jwt"],
        now: now)
    }
  }

  private static func checkTokens(_ input: [UInt8], _ text: String) {
    require(claims(of: text) == nil, "nobody has the client's key")
    require(user(namedBy: text) == nil, "nobody has the client's key")
    // Signed with it, any claims.
    let signed = made("a token") { () throws(JOSEFailure) in try JWS.sign(input, with: SigningKey(key)) }
    let user = user(namedBy: signed)
    guard let claims = claims(of: signed) else { return require(user == nil, "a hint is a token") }
    require(user == nil || claims.all["sub_id"] != nil, "a hint names a user")
    require(claims.issuer == client.id.text, "a token is its client's")
    require(claims.audiences.contains("https://a.example/main"), "a token is for this server")
    require((now...now + 3_700).contains(claims.end), "a token ends soon")
    if let form = accepted({ () throws(OpenIDFailure) in try FormParameters(claims: claims.all) }) {
      check(form)
    }
  }

  // MARK: Hints

  /// In memory, where only the reader of ID tokens would look.
  private static let context = made("a context") { () throws in
    ServiceContext(
      settings: ServicePolicy(
        serverURL: try ServerURL("a.example/main"), pins: [],
        profile: ContainerProfile(protection: .device, totp: .standard)),
      storage: try Storage(over: SQLDatabase(.memory, schema: Storage.schema)),
      masterKey: MasterKey(SecretBytes(copying: [UInt8](repeating: 7, count: MasterKey.byteCount))),
      clock: StoppedClock(), log: EventLog { _ in })
  }

  /// The user of a `login_hint_token`.
  private static func user(namedBy token: String) -> UserID? {
    waiting {
      do { return try await UserHint(context).user(for: .token(token), of: client) } catch {
        require(error is OpenIDFailure, "a refusal is told")
        return nil
      }
    }
  }

  // MARK: Registrations

  private static func checkRegistration(_ input: [UInt8]) {
    guard let body = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }) else { return }
    let registration: ClientRegistration
    do throws(Problem) {
      let message: NewClient
      do { message = try NewClient.schema.read(body, "") } catch { throw Problem(reading: error) }
      registration = try ClientRegistration(message)
    } catch {
      return require(!error.detail.isEmpty, "a refusal says why")
    }
    require(registration.authentication != .privateKeyJWT || registration.keySet != nil, "who signs has keys")
    require(
      (registration.delivery == .poll) == (registration.notificationEndpoint == nil), "who is told says where"
    )
    guard let keySet = registration.keySet else { return }
    let set = made("a set of keys") { () throws(JOSEFailure) in try JWKSet(parsing: keySet) }
    require((1...16).contains(set.keys.count), "a client has some keys")
    for name in ["\"d\"", "\"k\"", "\"p\"", "\"dp\""] {
      require(!String(decoding: keySet, as: UTF8.self).contains("\(name):"), "nothing private is kept")
    }
  }
}

private struct StoppedClock: WallClock {
  let now: Int64 = 1_700_000_000
}
