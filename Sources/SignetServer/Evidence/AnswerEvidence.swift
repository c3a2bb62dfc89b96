import SignetCrypto
package import SignetJSON

/// What an answer that is no container's was signed with, as it came, with all that verifies it later (`docs/protocol.md` section 5.2.1).
///
/// The server takes the answer by it, keeps it with the transaction, and gives it out; ``EvidenceCheck`` verifies it.
package enum AnswerEvidence: Sendable, Hashable {
  /// A UAF authenticator's response.
  case uaf(UAF)
  /// An authenticator app's token.
  case app(App)

  /// The most bytes that are kept of one answer, as JSON: what relying parties read within the limits of all other messages.
  package static let maximumByteCount = 32_768

  /// What a UAF authenticator has signed.
  package struct UAF: Sendable, Hashable {
    /// The application of the request.
    package var appID: String
    /// The challenge of the request.
    package var challenge: [UInt8]
    /// `fcParams` as the client wrote it, which is what is hashed.
    package var finalChallenge: String
    /// The text that the authenticator was given to show.
    package var text: String
    /// What each key has signed, at least one.
    package var assertions: [Assertion]
  }

  /// What one key has signed.
  package struct Assertion: Sendable, Hashable {
    /// The authenticator's model.
    package var aaid: String
    /// Names the key among the model's.
    package var keyID: [UInt8]
    /// The public key as the authenticator wrote it when it was registered.
    package var publicKey: [UInt8]
    /// The registry's number of the key's encoding.
    package var keyFormat: UInt16
    /// The registry's number of the signature algorithm.
    package var algorithm: UInt16
    /// The whole assertion, TLV.
    package var bytes: [UInt8]
  }

  /// What an authenticator app has signed, by a key that the server has too.
  package struct App: Sendable, Hashable {
    /// The message as the app got it: a token with the text and the challenge.
    package var message: String
    /// The app's answer to the message: a token.
    package var answer: String
  }

  /// The JSON of the evidence alone; the server's statement stands beside it.
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

  /// Reads the evidence; members that it does not know are not looked at.
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

  /// The SHA-256 of each member by its name, with nothing left out.
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

  /// Bytes in base64url without padding, and in no other spelling: each character is to count.
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
