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
      case .malformed(let member): "\"\(member)\" is missing or malformed"
      case .altered(let member): "\"\(member)\" has changed since the server accepted the answer"
      case .statement:
        "\"statement\" is not signed by the server's key: it was changed, or another key signed it"
      case .otherServerKey: "\"statement\" is signed by a key that is not one of the server's"
      case .otherKey: "the public key of the answer is not the one that was given"
      case .otherContent: "the answer is about another \"content\""
      case .contradicts(let member, let other): "\"\(member)\" contradicts \"\(other)\""
      case .refused(let member, let refusal): "\"\(member)\" does not verify: \(refusal)"
      case .sharedKeyMissing:
        "an app signed the answer with a key that only the app and the server have"
      case .notAuthentic(let member): "\"\(member)\" is not authenticated by the app's key"
      }
    }
  }
}
