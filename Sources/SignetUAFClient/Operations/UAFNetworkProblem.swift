public import SignetHTTPClient
import SignetUAF

/// A failed exchange with a UAF server.
public struct UAFNetworkProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The cause of the failure.
  @nonexhaustive public enum Cause: Hashable, Sendable {
    /// The server could not be reached or authenticated.
    case transport(TransportFailure)
    /// The server answered with this HTTP status and body; at most 2,048 bytes of the body are kept.
    case status(Int, body: String)
    /// The server's answer does not follow the protocol.
    case malformed(String)
    /// The server rejected the message with this UAF status code.
    case refused(Int, description: String?)
  }

  /// The server's base URL.
  public let server: String
  /// The cause of the failure.
  public let cause: Cause

  init(_ cause: Cause, at server: String) { (self.cause, self.server) = (cause, server) }

  /// The HTTP status outside 200 to 299; `nil` for another cause.
  public var status: Int? { if case .status(let status, _) = cause { status } else { nil } }

  /// The UAF status code of a rejection; `nil` for another cause.
  public var uafStatus: Int? { if case .refused(let status, _) = cause { status } else { nil } }

  /// Indicates whether the server rejected the authorization, the user, the device or the key, and not the message itself.
  package var isNotAllowed: Bool {
    switch cause {
    case .status(let status, _): status == 401 || status == 403
    case .refused(let status, _):
      switch UAFStatus(rawValue: status) {
      case .unauthorized?, .forbidden?, .revokedAuthenticator?: true
      default: false
      }
    case .transport, .malformed: false
    }
  }

  /// The failure and the remedy.
  public var description: String {
    switch cause {
    case .transport(let failure): failure.description
    case .status(404, _):
      "the server answered with status 404: there is no UAF service at \(server), or it does not know the user any more"
    case .status(let status, _): "the server answered with status \(status)"
    case .malformed(let reason): "the server broke the protocol: \(reason)"
    case .refused(let status, let text):
      "the server refused with status \(status)\((text ?? UAFStatus(rawValue: status)?.explanation).map { ": \($0)" } ?? "")"
    }
  }

  /// Indicates whether a retry of the same request may succeed.
  var mayPass: Bool {
    switch cause {
    case .transport(let failure): failure.mayPass && failure != .cancelled
    case .status(let status, _): HTTPResponse(status: status).mayPass
    case .malformed, .refused: false
    }
  }
}

extension UAFStatus {
  /// The meaning of a status code, used if the server sends no description.
  fileprivate var explanation: String? {
    switch self {
    case .unauthorized:
      "the server requires an authenticated user, or a token that allows this: authenticate there first, or start again"
    case .forbidden:
      "not allowed: the user, the device or the key is suspended, locked or revoked; ask the operator"
    case .notFound: "there is no such user, key or operation there; start again"
    case .timeout: "the operation has expired or ended; start again"
    case .unknownAAID: "the server does not know the model of the authenticator"
    case .unknownKeyID: "the server does not know the key"
    case .requestInvalid: "the request is unknown, too old, or was answered before; start again"
    case .unacceptableAuthenticator: "the server does not accept this authenticator"
    case .revokedAuthenticator: "the model of the authenticator is revoked"
    default: nil
    }
  }
}
