public import SignetWire

/// Hands a push to a service that carries it to devices.
public protocol PushDispatcher: Sendable {
  /// The service.
  var service: PushTarget.Service { get }

  /// The key with which a subscription is asked for, X9.63 (RFC 8292 section 4); `nil` for a service without one.
  var subscriptionKey: [UInt8]? { get }

  /// Whether the operator lets pushes go to a target: asked when a device names it, and before each push.
  func mayCarry(_ target: PushTarget) -> Bool

  /// Hands one message over, once.
  ///
  /// - Parameters:
  ///   - message: What to carry.
  ///   - target: To where.
  /// - Throws: ``PushFailure``, which says whether to try again.
  func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure)
}

extension PushDispatcher {
  /// None.
  public var subscriptionKey: [UInt8]? { nil }

  /// To any target of the service.
  public func mayCarry(_ target: PushTarget) -> Bool { target.service == service }
}

/// Why a push was not taken.
@nonexhaustive public enum PushFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The target is gone for good: forget it.
  case targetGone
  /// The service is busy or out of reach; after so many seconds, where it says so.
  case tryAgain(afterSeconds: Int64?, reason: String)
  /// The service refuses what was sent, and would again: the operator's settings, or the target, are wrong.
  case refused(reason: String)
  /// The target is of another service, or the operator does not allow it.
  case targetNotAllowed

  /// What happened and what to do; never a token or content.
  public var description: String {
    switch self {
    case .targetGone: "the push service does not know the device any more; the target is dropped"
    case .tryAgain(_, let reason): "the push service did not take the message now: \(reason)"
    case .refused(let reason): "the push service refused the message: \(reason); check the settings of push"
    case .targetNotAllowed:
      "the target is not one that this server sends to; check \"hosts\" of \"webPush\" in the settings of push"
    }
  }
}
