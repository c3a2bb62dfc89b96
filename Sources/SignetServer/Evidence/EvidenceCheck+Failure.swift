package import SignetProtocol
package import SignetUAF

extension EvidenceCheck {
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The signed decision of a container does not verify, or the text is not an answer.
    case decision(DecisionCheck.Failure)
    /// The transaction has no evidence of an answer.
    case noAnswer(status: String)
    /// A member is missing or malformed.
    case malformed(member: String)
    /// A member has changed since the server accepted the answer.
    case altered(member: String)
    /// The server's statement is not signed by the server's key, or is malformed.
    case statement
    /// A key that is not one of the server's has signed the statement.
    case otherServerKey
    /// A key that is not the user's has signed the answer.
    case otherKey
    /// The content is not that of the relying party's request.
    case otherContent
    /// A member contradicts another one.
    case contradicts(member: String, by: String)
    /// The assertion does not verify.
    case refused(member: String, AssertionRefusal)
    /// The key that verifies an app's answer was not given.
    case sharedKeyMissing
    /// The app's key does not authenticate a token.
    case notAuthentic(member: String)

    /// The failure as text, without user, content or key.
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
        "an app has answered, by a key that only the app and the server have"
      case .notAuthentic(let member): "\"\(member)\" is not authenticated by the app's key"
      }
    }
  }
}
