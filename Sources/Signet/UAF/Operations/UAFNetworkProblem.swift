public import SignetTransport

/// Why an exchange with a UAF server came to nothing, and which server it was.
public struct UAFNetworkProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong.
  @nonexhaustive public enum Cause: Hashable, Sendable {
    /// The server could not be reached, or not trusted.
    case transport(TransportFailure)
    /// The server answered with this HTTP status, and this, of which at most 2,048 bytes are kept.
    case status(Int, body: String)
    /// The server's answer is none of this protocol.
    case malformed(String)
    /// The server refused the message with this status of the protocol.
    case refused(Int, description: String?)
  }

  /// The server's base URL.
  public let server: String
  /// What went wrong.
  public let cause: Cause

  init(_ cause: Cause, at server: String) { (self.cause, self.server) = (cause, server) }

  /// The HTTP status, where the server answered with one that means failure.
  public var status: Int? { if case .status(let status, _) = cause { status } else { nil } }

  /// The status of the protocol, where the server answered with one that means refusal.
  public var uafStatus: Int? { if case .refused(let status, _) = cause { status } else { nil } }

  /// What happened and what to do.
  public var description: String {
    switch cause {
    case .transport(let failure): failure.description
    case .status(let status, _): "the server answered with status \(status)"
    case .malformed(let reason): "the server broke the protocol: \(reason)"
    case .refused(let status, let text):
      "the server refused with status \(status)\(text.map { ": \($0)" } ?? "")"
    }
  }

  /// Whether the same may succeed later.
  var mayPass: Bool {
    switch cause {
    case .transport(let failure): failure.mayPass && failure != .cancelled
    case .status(let status, _): HTTPResponse(status: status).mayPass
    case .malformed, .refused: false
    }
  }
}
