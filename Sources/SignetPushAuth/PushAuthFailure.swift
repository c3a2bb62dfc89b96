public import SignetJOSE

/// Why something of the push protocol of authenticator apps was not accepted.
@nonexhaustive public enum PushAuthFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nothing that a push service delivers, or no object of the protocol at all; the reason is the end of a sentence.
  case malformed(reason: String)
  /// A member, claim or parameter is missing.
  case missing(String)
  /// A member, claim or parameter has a value that it cannot have; the reason is the end of a sentence.
  case invalid(String, reason: String)
  /// The token is malformed, of another algorithm than HS256, or not signed with the shared secret.
  case token(JOSEFailure)
  /// The shared secret is shorter than is taken; in bytes.
  case weakSecret(byteCount: Int, least: Int)
  /// No mechanism here has this name.
  case unknownMechanism
  /// The message is for another user than the one whose mechanism it names.
  case otherUser
  /// The message id was used for another content, or the content came under another message id.
  case replayed
  /// An endpoint is not reached over HTTPS.
  case insecureEndpoint(String)
  /// Registration and authentication are at different hosts.
  case endpointsApart
  /// The server lists more messages than are taken at a time.
  case tooManyMessages(limit: Int)
  /// The notification was answered before.
  case notPending
  /// The server has said that the notification waits no more.
  case ended
  /// The number is none of those that the notification offers.
  case numberNotOffered(offered: [Int64])
  /// The notification has expired, and the device was told to refuse such.
  case expired
  /// The notification is answered in another way; the reason is the end of a sentence.
  case wrongAnswer(reason: String)
  /// The response to the challenge is not the one that the shared secret makes.
  case wrongResponse
  /// There is no notification of this name.
  case noSuchNotification
  /// The server does not know the mechanism any more.
  case notEnrolled

  /// What happened and what to do; never a secret, a challenge or a user.
  public var description: String {
    switch self {
    case .malformed(let reason): "this is no message of a push service: it \(reason)"
    case .missing(let name): "the \(name) is missing"
    case .invalid(let name, let reason): "the \(name) \(reason)"
    case .token(let failure): "the token was refused: \(failure)"
    case .weakSecret(let count, let least):
      "the shared secret has \(count) bytes; the server has to give at least \(least)"
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
    case .ended: "the request has ended; begin again at the server"
    case .numberNotOffered(let offered):
      "the number is none of those that the message offers (\(offered.map(String.init).joined(separator: ", "))); nothing was sent"
    case .expired: "the message has expired; begin again at the server"
    case .wrongAnswer(let reason): "the message \(reason)"
    case .wrongResponse: "the response to the challenge is wrong; enrol the device again"
    case .noSuchNotification: "there is no message of this id"
    case .notEnrolled:
      "the server does not know this account any more, and asks it nothing: delete it here; for another one, have the operator invite this device again"
    }
  }
}
