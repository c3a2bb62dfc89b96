import SignetCrypto
package import SignetJSON

/// An answer by a UAF authenticator or an app, with all data to verify it later (`docs/protocol.md` section 5.2.1).
///
/// The server accepts the answer by it, stores it with the transaction, and returns it; ``EvidenceCheck`` verifies it.
package enum AnswerEvidence: Sendable, Hashable {
  /// A UAF authenticator's response.
  case uaf(UAF)
  /// An authenticator app's token.
  case app(App)

  /// The largest size of the evidence as JSON, in bytes, so that messages to relying parties stay within their limits.
  package static let maximumByteCount = 32_768

  /// The signed response of a UAF authenticator.
  package struct UAF: Sendable, Hashable {
    package var appID: String
    package var challenge: [UInt8]
    /// `fcParams` exactly as the client wrote it, since the client's signature covers its hash.
    package var finalChallenge: String
    /// The text that the authenticator received to show.
    package var text: String
    /// The assertion of each key, at least one.
    package var assertions: [Assertion]
  }

  /// The assertion of one key.
  package struct Assertion: Sendable, Hashable {
    package var aaid: String
    /// The id of the key within the model.
    package var keyID: [UInt8]
    /// The public key in the encoding of its registration.
    package var publicKey: [UInt8]
    /// The registry's number of the key's encoding.
    package var keyFormat: UInt16
    /// The registry's number of the signature algorithm.
    package var algorithm: UInt16
    /// The whole assertion, TLV.
    package var bytes: [UInt8]
  }

  /// The answer of an authenticator app, authenticated by a key that the server also has.
  package struct App: Sendable, Hashable {
    /// The message as the app received it: a token with the text and the challenge.
    package var message: String
    /// The app's answer to the message: a token.
    package var answer: String
  }

  /// The evidence as JSON, without the server's statement.
  package var json: JSONObject {
    switch self {
    case .uaf(let uaf):
      [
        "kind": "uaf", "appID": .string(uaf.appID), "challenge": .string(Base64URL.encode(uaf.challenge)),
        "fcParams": .string(uaf.finalChallenge), "text": .string(uaf.text),
        "assertions": .array(uaf.assertions.map { .object($0.json) }),
      ]
    case .app(let app):
      ["kind": "app", "message": .string(app.message), "answer": .string(app.answer)]
    }
  }

  /// Parses the evidence; unknown members are ignored.
  ///
  /// - Throws: ``EvidenceCheck/Failure/malformed(member:)``.
  package init(_ object: JSONObject) throws(EvidenceCheck.Failure) {
    switch object["kind"] {
    case .string("uaf")?:
      self = .uaf(
        UAF(
          appID: try object.evidenceText("appID"), challenge: try object.evidenceBytes("challenge"),
          finalChallenge: try object.evidenceText("fcParams"), text: try object.evidenceText("text"),
          assertions: try Assertion.all(in: object)))
    case .string("app")?:
      self = .app(
        App(message: try object.evidenceText("message"), answer: try object.evidenceText("answer")))
    default: throw .malformed(member: "kind")
    }
  }

  /// The SHA-256 of each member with its name; all members are included.
  package var digests: [(member: String, digest: [UInt8])] {
    let members: [(String, [UInt8])] =
      switch self {
      case .uaf(let uaf):
        [
          ("appID", Array(uaf.appID.utf8)), ("challenge", uaf.challenge),
          ("fcParams", Array(uaf.finalChallenge.utf8)), ("text", Array(uaf.text.utf8)),
        ] + uaf.assertions.enumerated().flatMap { $1.members(at: $0) }
      case .app(let app):
        [("message", Array(app.message.utf8)), ("answer", Array(app.answer.utf8))]
      }
    return members.map { (member: $0.0, digest: HashFunction.sha256.digest(of: $0.1)) }
  }
}

extension AnswerEvidence.Assertion {
  fileprivate var json: JSONObject {
    [
      "aaid": .string(aaid), "keyID": .string(Base64URL.encode(keyID)),
      "publicKey": .string(Base64URL.encode(publicKey)), "keyFormat": .integer(Int64(keyFormat)),
      "algorithm": .integer(Int64(algorithm)), "assertion": .string(Base64URL.encode(bytes)),
    ]
  }

  fileprivate static func all(in object: JSONObject) throws(EvidenceCheck.Failure) -> [Self] {
    guard case .array(let values)? = object["assertions"], (1...16).contains(values.count) else {
      throw .malformed(member: "assertions")
    }
    var found: [Self] = []
    for (index, value) in values.enumerated() {
      let path = "assertions[\(index)]."
      guard case .object(let item) = value else { throw .malformed(member: "assertions") }
      found.append(
        Self(
          aaid: try item.evidenceText("aaid", path), keyID: try item.evidenceBytes("keyID", path),
          publicKey: try item.evidenceBytes("publicKey", path),
          keyFormat: try item.evidenceNumber("keyFormat", path),
          algorithm: try item.evidenceNumber("algorithm", path),
          bytes: try item.evidenceBytes("assertion", path)))
    }
    return found
  }

  fileprivate func members(at index: Int) -> [(String, [UInt8])] {
    let path = "assertions[\(index)]."
    return [
      (path + "aaid", Array(aaid.utf8)), (path + "keyID", keyID), (path + "publicKey", publicKey),
      (path + "keyFormat", Array("\(keyFormat)".utf8)), (path + "algorithm", Array("\(algorithm)".utf8)),
      (path + "assertion", bytes),
    ]
  }
}

extension JSONObject {
  fileprivate func evidenceText(
    _ name: String, _ path: String = ""
  ) throws(EvidenceCheck.Failure) -> String {
    guard case .string(let text)? = self[name] else { throw .malformed(member: path + name) }
    return text
  }

  /// Returns bytes from base64url without padding.
  ///
  /// Other spellings are rejected, so that each change of a character is detected.
  func evidenceBytes(
    _ name: String, _ path: String = ""
  ) throws(EvidenceCheck.Failure) -> [UInt8] {
    let text = try evidenceText(name, path)
    do throws(EncodingFailure) { return try Base64URL.decode(text) } catch {
      throw .malformed(member: path + name)
    }
  }

  fileprivate func evidenceNumber(
    _ name: String, _ path: String
  ) throws(EvidenceCheck.Failure) -> UInt16 {
    guard case .integer(let number)? = self[name], let value = UInt16(exactly: number) else {
      throw .malformed(member: path + name)
    }
    return value
  }
}
