public import SignetJOSE

/// The reasons to reject an object of the authenticator apps' push protocol.
@nonexhaustive public enum PushAuthFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The object is not one of the protocol; the reason is a predicate.
  case malformed(reason: String)
  /// A member, claim or parameter is missing.
  case missing(String)
  /// A member, claim or parameter has an invalid value; the reason is a predicate.
  case invalid(String, reason: String)
  /// The token is malformed, has another algorithm than HS256, or is not signed with the shared secret.
  case token(JOSEFailure)
  /// The shared secret is too short; both values in bytes.
  case weakSecret(byteCount: Int, least: Int)
  /// No mechanism on this device has this id.
  case unknownMechanism
  /// The message is for another user than the owner of its mechanism.
  case otherUser
  /// The message id was used for another content, or the content for another message id.
  case replayed
  /// An endpoint does not use HTTPS.
  case insecureEndpoint(String)
  /// The registration and authentication endpoints have different hosts.
  case endpointsApart
  /// The server lists more messages than are accepted at a time.
  case tooManyMessages(limit: Int)
  /// The notification is already answered.
  case notPending
  /// The server reported that the notification has ended.
  case ended
  /// The number is not one of those that the notification offers.
  case numberNotOffered(offered: [Int64])
  /// The notification has expired, and the device is configured to reject expired ones.
  case expired
  /// The notification requires another kind of answer; the reason is a predicate.
  case wrongAnswer(reason: String)
  /// The response to the challenge is wrong for the shared secret.
  case wrongResponse
  /// There is no notification with this id.
  case noSuchNotification
  /// The server no longer knows the mechanism.
  case notEnrolled

  /// The reason and what to do about it; it never contains a secret, a challenge or a user.
  public var description: String {
    switch self {
    case .malformed(let reason): "this is not a message of a push service: it \(reason)"
    case .missing(let name): "the \(name) is missing"
    case .invalid(let name, let reason): "the \(name) \(reason)"
    case .token(let failure): "the token was refused: \(failure)"
    case .weakSecret(let count, let least):
      "the shared secret has \(count) bytes; the server must give at least \(least)"
    case .unknownMechanism: "no account on this device has the name that the message gives; enrol it again"
    case .otherUser: "the message is for another user than the account's; it was ignored"
    case .replayed: "the message was received before with another content or name; it was ignored"
    case .insecureEndpoint(let name):
      "the \(name) is not an https URL; ask the operator of the server for one"
    case .endpointsApart:
      "registration and authentication are at different hosts; do not enrol with this code"
    case .tooManyMessages(let limit):
      "more than \(limit) messages wait at the server; the first \(limit) were looked at: answer or deny these first"
    case .notPending: "the message was answered before"
    case .ended: "the request has ended; start again at the server"
    case .numberNotOffered(let offered):
      "the number is not one of those that the message offers (\(offered.map(String.init).joined(separator: ", "))); nothing was sent"
    case .expired: "the message has expired; start again at the server"
    case .wrongAnswer(let reason): "the message \(reason)"
    case .wrongResponse: "the response to the challenge is wrong; enrol the device again"
    case .noSuchNotification: "there is no message of this id"
    case .notEnrolled:
      "the server does not know this account any more: delete it here; for a new one, ask the operator for another invite"
    }
  }
}
