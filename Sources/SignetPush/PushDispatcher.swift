package import SignetProtocol

/// A client of a service that delivers pushes to devices.
package protocol PushDispatcher: Sendable {
  /// The service of the dispatcher.
  var service: PushTarget.Service { get }

  /// The key for subscriptions, X9.63 (RFC 8292 section 4); `nil` for a service without one.
  var subscriptionKey: [UInt8]? { get }

  /// Indicates whether the operator allows pushes to a target; called when a device registers it, and before each push.
  func mayCarry(_ target: PushTarget) -> Bool

  /// Sends a message once.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - target: The destination.
  /// - Throws: ``PushFailure``, which determines whether to retry.
  func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure)
}

extension PushDispatcher {
  /// No subscription key.
  package var subscriptionKey: [UInt8]? { nil }

  /// Allows every target of the service.
  package func mayCarry(_ target: PushTarget) -> Bool { target.service == service }
}

/// The reasons why a push was not accepted.
package enum PushFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The target no longer exists: delete it.
  case targetGone
  /// The service is busy or unreachable; retry after the given number of seconds, if any.
  case tryAgain(afterSeconds: Int64?, reason: String)
  /// The service rejects the message permanently: the operator's settings or the target are wrong.
  case refused(reason: String)
  /// The target belongs to another service, or the operator does not allow it.
  case targetNotAllowed

  /// The reason and what to do about it; it never contains a token or content.
  package var description: String {
    switch self {
    case .targetGone: "the push service does not know the device any more; the target is removed"
    case .tryAgain(_, let reason): "the push service did not accept the message for now: \(reason)"
    case .refused(let reason): "the push service refused the message: \(reason); check the settings of push"
    case .targetNotAllowed:
      "the target is not one that this server sends to; check \"hosts\" of \"webPush\" in the settings of push"
    }
  }
}
