public import SignetCrypto
import SignetJSON

/// A relying party's verification of a signed decision with the public key, without the server (`docs/protocol.md` section
/// 7).
public struct DecisionCheck: Sendable {
  /// The reasons why a decision is not valid.
  @nonexhaustive public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is neither a JWS nor a server's response with one.
    case notADecision
    /// No key to verify with was given.
    case keyMissing
    /// The server's response contains another key than the given one.
    case otherKey
    /// The signature does not verify, or the header is not that of a decision.
    case notSigned
    /// A member does not have the expected value.
    case differs(member: String)
    /// The decision predates structured content: the key signed a bare text.
    case signedBareText
    /// The signed payload, or the content in it, is not of the protocol's form.
    case content(WireFailure)

    /// The result and what it means.
    public var description: String {
      switch self {
      case .notADecision: "there is no signed decision in it"
      case .keyMissing: "a JWS alone does not identify its signer; give the public key"
      case .otherKey: "the answer has another public key than the one that was given"
      case .notSigned: "the signature is not valid: the decision was changed, or another key signed it"
      case .differs(let member): "the signed content has another \"\(member)\""
      case .signedBareText:
        "the signature is valid, but the signed content is plain text, as devices signed it before transactions had a content (server databases up to format 5); verify it with the signet-server of that time"
      case .content(let failure): "the signed content does not follow the protocol: \(failure)"
      }
    }
  }

  /// The verified decision.
  public let decision: Decision
  /// The content that the user saw.
  public let content: TransactionContent

  /// Verifies a decision.
  ///
  /// - Parameters:
  ///   - text: A compact JWS, or the server's response to `GET /v1/transactions/{id}`; all members of a response must match
  ///     the decision.
  ///   - key: The user's public key; `nil` for the key in the response, for which the caller trusts the server.
  ///   - expected: The content that the relying party requested; `nil` if the caller compares it.
  /// - Throws: ``Failure`` if the decision is not valid.
  public init(
    _ text: String, key: P256.Signing.PublicKey?, content expected: String? = nil
  ) throws(Failure) {
    let response = ServerResponse(text)
    let message = ES256Message(response?.jws ?? text, type: Decision.type)
    guard response != nil || message != nil else { throw .notADecision }
    guard let key = key ?? response?.key else { throw .keyMissing }
    if let response, response.key.thumbprint != key.thumbprint { throw .otherKey }
    guard let payload = message?.payload(signedBy: key) else { throw .notSigned }
    let decision: Decision
    do { decision = try Decision(parsing: payload) } catch {
      throw Self.isBareText(payload) ? .signedBareText : .content(error)
    }
    if let expected, !decision.isAbout(expected) { throw .differs(member: "content") }
    try response?.check(decision)
    do { content = try TransactionContent(parsing: decision.content) } catch { throw .content(error) }
    self.decision = decision
  }

  /// Indicates whether a decision has the form that preceded structured content.
  private static func isBareText(_ payload: [UInt8]) -> Bool {
    do {
      let object = try Wire.object(payload)
      return try object.contains("text") && !object.contains("content") && object.integer("version") == 1
    } catch { return false }
  }

  /// The server's response about a decided transaction.
  private struct ServerResponse {
    let jws: String
    let key: P256.Signing.PublicKey
    let object: JSONObject
    let details: JSONObject

    init?(_ text: String) {
      do {
        object = try JSONObject(parsing: Array(text.utf8))
        details = try object.object("decision")
        jws = try details.string("jws")
        key = try P256.Signing.PublicKey(pem: details.string("publicKeyPEM"))
        guard try details.object("publicKey") == key.wireJWK else { return nil }
      } catch { return nil }
    }

    func check(_ decision: Decision) throws(Failure) {
      let expected: [(JSONObject, String, JSONValue)] = [
        (object, "id", .string(decision.transaction.text)), (object, "user", .string(decision.user.text)),
        (object, "content", .string(decision.content)), (object, "status", .string(decision.status.rawValue)),
        (object, "expires", .integer(decision.expires)),
        (details, "container", .string(decision.container.text)),
        (details, "device", .string(Base64URL.encode(decision.device))),
      ]
      for (parent, member, value) in expected where parent[member] != value {
        throw .differs(member: member)
      }
    }
  }
}
