/// A message that waits for an answer, or has one.
public struct PushAuthNotification: Sendable, Hashable, Identifiable {
  /// What the user said.
  public enum Decision: String, Sendable, Hashable {
    /// Yes.
    case approved
    /// No.
    case denied
  }

  /// How far a notification is.
  public enum State: Sendable, Hashable {
    /// Nobody has answered, and its time is not over.
    case pending
    /// Nobody has answered, and its time is over; the server decides whether an answer still counts.
    case expired
    /// The server took a yes.
    case approved
    /// The server took a no.
    case denied
    /// The server has said that it waits no more: it was answered elsewhere, withdrawn, or has expired there.
    case ended
  }

  /// What was received.
  public let message: PushAuthMessage
  /// When it was received, in milliseconds since 1970.
  public let received: Int64
  /// What the user said and the server took; `nil` as long as it did not.
  public internal(set) var decision: Decision?
  /// When the server took the answer, in milliseconds since 1970.
  public internal(set) var answered: Int64?
  /// When the server said that it waits no more, though no answer of this device is known, in milliseconds since 1970.
  public internal(set) var ended: Int64?

  /// A message that was just received.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - received: In milliseconds since 1970.
  public init(_ message: PushAuthMessage, received: Int64) {
    (self.message, self.received) = (message, received)
  }

  /// Its name: the message id.
  public var id: String { message.messageID }

  /// When it was made, in milliseconds since 1970: the server's time where it says so.
  public var created: Int64 { message.createdMillis ?? received }

  /// When it expires, in milliseconds since 1970.
  public var expires: Int64 { created.saturatingAdd(Int64(message.timeToLive * 1000)) }

  /// Whether nobody has answered, in time or not, and the server has not said that it waits no more.
  public var isPending: Bool { decision == nil && ended == nil }

  /// Whether its time is over, answered or not.
  ///
  /// - Parameter now: In milliseconds since 1970.
  /// - Returns: Whether it is.
  public func isExpired(at now: Int64) -> Bool { now > expires }

  /// How far it is.
  ///
  /// - Parameter now: In milliseconds since 1970.
  /// - Returns: The state; one that was answered stays what it was answered with.
  public func state(at now: Int64) -> State {
    switch decision {
    case .approved: .approved
    case .denied: .denied
    case nil: ended != nil ? .ended : isExpired(at: now) ? .expired : .pending
    }
  }

  /// How long the answer took, in milliseconds; `nil` without one.
  public var responseTime: Int64? { answered.map { max($0.saturatingAdd(-max(received, 0)), 0) } }
}

extension Int64 {
  /// The sum, or the number nearest to it: times of others may be as far away as numbers go.
  func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }
}
