/// A received message with its state.
public struct PushAuthNotification: Sendable, Hashable, Identifiable {
  /// The user's decision.
  public enum Decision: String, Sendable, Hashable {
    /// The user approved.
    case approved
    /// The user denied.
    case denied
  }

  /// The state of a notification.
  public enum State: Sendable, Hashable {
    /// Not answered and not expired.
    case pending
    /// Not answered and expired; the server decides whether it still accepts an answer.
    case expired
    /// The server accepted an approval.
    case approved
    /// The server accepted a denial.
    case denied
    /// The server reported that it has ended: answered elsewhere, withdrawn, or expired there.
    case ended
  }

  /// The verified message.
  public let message: PushAuthMessage
  /// The time of arrival, in milliseconds since 1970.
  public let received: Int64
  /// The decision that the server accepted; `nil` before that.
  public internal(set) var decision: Decision?
  /// The time at which the server accepted the answer, in milliseconds since 1970.
  public internal(set) var answered: Int64?
  /// The time at which the server reported the end without an answer from this device, in milliseconds since 1970.
  public internal(set) var ended: Int64?

  /// Creates the notification of a new message.
  ///
  /// - Parameters:
  ///   - message: The verified message.
  ///   - received: The time of arrival, in milliseconds since 1970.
  public init(_ message: PushAuthMessage, received: Int64) {
    (self.message, self.received) = (message, received)
  }

  /// The message id.
  public var id: String { message.messageID }

  /// The time of creation, in milliseconds since 1970: the server's if the message contains it, otherwise that of arrival.
  public var created: Int64 { message.createdMillis ?? received }

  /// The time of expiry, in milliseconds since 1970.
  public var expires: Int64 { created.saturatingAdd(Int64(message.timeToLive * 1000)) }

  /// Indicates whether it has neither an accepted answer nor a reported end; it may be expired.
  public var isPending: Bool { decision == nil && ended == nil }

  /// Indicates whether it has expired, answered or not.
  ///
  /// - Parameter now: The current time, in milliseconds since 1970.
  /// - Returns: True after ``expires``.
  public func isExpired(at now: Int64) -> Bool { now > expires }

  /// Returns the state of the notification.
  ///
  /// - Parameter now: The current time, in milliseconds since 1970.
  /// - Returns: The state; an accepted answer is final.
  public func state(at now: Int64) -> State {
    switch decision {
    case .approved: .approved
    case .denied: .denied
    case nil: ended != nil ? .ended : isExpired(at: now) ? .expired : .pending
    }
  }

  /// The time from arrival to the accepted answer, in milliseconds; `nil` without an answer.
  public var responseTime: Int64? { answered.map { max($0.saturatingAdd(-max(received, 0)), 0) } }
}

extension Int64 {
  /// Adds and saturates at the limits of the type: times from a message can be arbitrarily large.
  func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }
}
