package import SignetUAF
package import SignetWire

extension EvidenceCheck {
  /// Why what is said to be an answer does not hold.
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is of a container, or nothing that was signed, and does not hold as that.
    case decision(DecisionCheck.Failure)
    /// It is a transaction that nobody has answered by a signature.
    case noAnswer(status: String)
    /// A member is missing, or not of the form that it has.
    case malformed(member: String)
    /// A member is not what it was when the server took the answer.
    case altered(member: String)
    /// The server's statement is not signed by the server's key, or none.
    case statement
    /// Another server's key has signed the statement.
    case otherServerKey
    /// Another key than the user's has signed it.
    case otherKey
    /// It is an answer to something else than what was asked.
    case otherContent
    /// A member is not what another one says of it.
    case contradicts(member: String, by: String)
    /// The assertion does not verify.
    case refused(member: String, AssertionRefusal)
    /// The key of an app's answer is not there.
    case sharedKeyMissing
    /// A token of an app is not authenticated by the app's key.
    case notAuthentic(member: String)

    /// What was found, and what it means.
    package var description: String {
      switch self {
      case .decision(let failure): failure.description
      case .noAnswer(let status):
        "it has no evidence of an answer: the transaction is \(status.isEmpty ? "undecided" : status)"
      case .malformed(let member): "\"\(member)\" is missing or is not of its form"
      case .altered(let member): "\"\(member)\" is not what it was when the server took the answer"
      case .statement:
        "\"statement\" is not signed by the server's key: it was changed, or another key signed it"
      case .otherServerKey: "another key than the server's has signed \"statement\""
      case .otherKey: "the answer has another public key than the one that was given"
      case .otherContent: "what was answered has another \"content\""
      case .contradicts(let member, let other): "\"\(member)\" is not what \"\(other)\" says"
      case .refused(let member, let refusal): "\"\(member)\" does not verify: \(refusal)"
      case .sharedKeyMissing:
        "an app has answered, by a key that only the app and the server have: verify it with the server's data folder (--data)"
      case .notAuthentic(let member): "\"\(member)\" is not authenticated by the app's key"
      }
    }
  }
}
