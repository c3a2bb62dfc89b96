package import SignetCrypto
import SignetJSON
import SignetProtocol
package import SignetStorage
import SignetSystem

/// An answer to a transaction, verified offline from the evidence that the server kept.
///
/// For a container the evidence is the signed decision (``DecisionCheck``); for a UAF authenticator or an app it is the
/// ``AnswerEvidence`` with the server's statement.
package struct EvidenceCheck: Sendable {
  /// The kind of authenticator that answered, which decides who can verify the answer.
  package enum Kind: String, Sendable, CaseIterable {
    /// A container: the user's key has signed the content and the time by the device's clock.
    case container
    /// A UAF authenticator: a registered key has signed the text for the application.
    case uaf
    /// An authenticator app: a key that it shares with the server authenticates the answer.
    case app
  }

  /// The kind of authenticator that answered.
  package let kind: Kind
  /// The state of the transaction after the answer.
  package let status: TransactionRecord.State
  package let transaction: String
  /// The id of the user who answered.
  package let user: String
  /// The URL of the server in its full form.
  package let server: String
  package let content: String
  /// The text that the authenticator showed, which can be shorter than the content.
  ///
  /// It is `nil` if the content itself was signed, or if the server sent no text to the app.
  package let shown: String?
  /// The time of the answer, in seconds since 1970: by the device's clock for a container, by the server's otherwise.
  package let time: Int64

  /// Verifies an answer.
  ///
  /// - Parameters:
  ///   - text: The server's answer to `GET /v1/transactions/{id}`, whose members must match the evidence, or the compact JWS
  ///     of a container's decision.
  ///   - key: The user's public key; `nil` to trust the one in the answer.
  ///   - expected: The content of the relying party's request; `nil` if the caller compares it.
  ///   - serverKeys: The server's keys, one of which must have signed the statement; `nil` to trust the one in the answer.
  ///   - sharedKey: The key that authenticates an app's answer, which only the app and the server have.
  /// - Throws: ``Failure``.
  package init(
    _ text: String, key: P256.Signing.PublicKey? = nil, content expected: String? = nil,
    serverKeys: [P256.Signing.PublicKey]? = nil, sharedKey: SharedKey? = nil
  ) throws(Failure) {
    guard let object = Self.answer(text), !object.contains("decision") else {
      let check: DecisionCheck
      do throws(DecisionCheck.Failure) {
        check = try DecisionCheck(text, key: key, content: expected)
      } catch { throw .decision(error) }
      self.init(check)
      return
    }
    guard case .object(let evidenceObject)? = object["evidence"] else {
      throw .noAnswer(status: Self.text(object, "status"))
    }
    let evidence = try AnswerEvidence(evidenceObject)
    let statement = try Self.statement(in: evidenceObject, serverKeys)
    let content = Self.text(object, "content")
    try Self.compare(statement, object, evidence)
    if let expected, !expected.hasSameBytes(as: content) { throw .otherContent }
    if let member = statement.alteredMember(of: evidence, about: content) { throw .altered(member: member) }
    let read: TransactionContent
    do throws(WireFailure) { read = try TransactionContent(parsing: content) } catch {
      throw .malformed(member: "content")
    }
    let claims = statement.claims
    guard let status = TransactionRecord.State(rawValue: Self.text(claims, "status")),
      case .integer(let time)? = claims["time"]
    else { throw .statement }
    let (kind, shown): (Kind, String?)
    switch evidence {
    case .uaf(let uaf):
      guard status == .accepted else { throw .contradicts(member: "status", by: "kind") }
      try Self.verify(uaf, showing: read, key)
      (kind, shown) = (.uaf, uaf.text)
    case .app(let app):
      // An app has no public key.
      guard key == nil else { throw .otherKey }
      guard let sharedKey else { throw .sharedKeyMissing }
      let text = try Self.verify(app, showing: read, status, reason: claims["reason"], with: sharedKey)
      (kind, shown) = (.app, text)
    }
    self.init(
      kind, status, to: Self.text(claims, "id"), by: Self.text(claims, "user"),
      at: Self.text(claims, "server"), content, shown: shown, time)
  }

  private init(_ check: DecisionCheck) {
    let decision = check.decision
    let status: TransactionRecord.State =
      switch decision.status {
      case .accepted: .accepted
      case .denied: .denied
      case .reported: .reported
      }
    self.init(
      .container, status, to: decision.transaction.text, by: decision.user.text,
      at: decision.server.fullForm, decision.content, shown: nil, decision.time)
  }

  private init(
    _ kind: Kind, _ status: TransactionRecord.State, to transaction: String, by user: String,
    at server: String, _ content: String, shown: String?, _ time: Int64
  ) {
    self.kind = kind
    self.status = status
    self.transaction = transaction
    self.user = user
    self.server = server
    self.content = content
    self.shown = shown
    self.time = time
  }

  // MARK: The answer and the statement

  /// Parses the server's answer about a transaction; returns `nil` for any other text.
  private static func answer(_ text: String) -> JSONObject? {
    do {
      let object = try JSONObject(parsing: Array(text.utf8))
      guard object.contains("id"), object.contains("status"), object.contains("content") else { return nil }
      return object
    } catch { return nil }
  }

  private static func text(_ object: JSONObject, _ name: String) -> String {
    if case .string(let text)? = object[name] { text } else { "" }
  }

  private static func statement(
    in evidenceObject: JSONObject, _ serverKeys: [P256.Signing.PublicKey]?
  ) throws(Failure) -> AnswerStatement {
    let point = try evidenceObject.evidenceBytes("serverKey")
    let key: P256.Signing.PublicKey
    do throws(CryptoFailure) { key = try P256.Signing.PublicKey(x963: point) } catch {
      throw .malformed(member: "serverKey")
    }
    let statement = try AnswerStatement(text(evidenceObject, "statement"), signedBy: key)
    if let serverKeys, !serverKeys.contains(where: { $0.thumbprint == key.thumbprint }) {
      throw .otherServerKey
    }
    return statement
  }

  /// Compares the answer's other members with the server's statement.
  private static func compare(
    _ statement: AnswerStatement, _ object: JSONObject, _ evidence: AnswerEvidence
  ) throws(Failure) {
    let claims = statement.claims
    for member in ["id", "user", "status", "created", "expires"] where object[member] != claims[member] {
      throw .altered(member: member)
    }
    let (name, authenticatorMember) =
      switch evidence {
      case .uaf: ("uaf", "session")
      case .app: ("app", "mechanism")
      }
    guard case .object(let details)? = object[name] else { throw .malformed(member: name) }
    guard details["time"] == claims["time"] else { throw .altered(member: "time") }
    guard details[authenticatorMember] == claims["by"] else { throw .altered(member: authenticatorMember) }
    var end: JSONObject?
    if case .object(let found)? = object["end"] { end = found }
    guard end?["reason"] == claims["reason"] else { throw .altered(member: "reason") }
  }
}
