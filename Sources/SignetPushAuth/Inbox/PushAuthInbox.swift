import SignetCrypto

/// The notifications of one mechanism, and traces of earlier messages: a value that the caller stores after each change.
///
/// A message id and a content belong together, even after the notification is deleted. The message id is outside the signed
/// token: without this check, an attacker on the path could deliver one token under many ids.
public struct PushAuthInbox: Sendable, Hashable {
  /// The result of receiving a message.
  public enum Reception: Sendable, Hashable {
    /// The message is new, and its notification is pending.
    case new(PushAuthNotification)
    /// The message was delivered before; the value is its notification.
    case known(PushAuthNotification)
    /// The message was delivered before, and its notification has been deleted.
    case forgotten
  }

  /// The trace of a received message, for detecting replays.
  struct Trace: Sendable, Hashable {
    let messageID: String
    let digest: [UInt8]
    /// The time until which it is kept, in milliseconds since 1970.
    let until: Int64
  }

  /// The largest number of notifications, regardless of the clean-up rule.
  public static let limit = 1000
  /// The shortest time for which a trace is kept, in milliseconds: 30 days, or the message's lifetime if that is longer.
  public static let shortestMemory: Int64 = 30 * 86_400_000
  /// The largest number of traces; beyond it, those that expire first are deleted.
  public static let traceLimit = 10_000

  /// All notifications, oldest first.
  public internal(set) var notifications: [PushAuthNotification]
  var traces: [Trace]

  /// Creates an empty inbox.
  public init() { (notifications, traces) = ([], []) }

  /// Adds a verified message.
  ///
  /// - Parameters:
  ///   - message: The message; the caller must compare its mechanism.
  ///   - now: The current time, in milliseconds since 1970.
  ///   - cleanUp: The rule for deleting notifications afterwards.
  /// - Returns: The result of receiving the message.
  /// - Throws: ``PushAuthFailure/replayed`` if the message id or the content was used with another one before.
  public mutating func receive(
    _ message: PushAuthMessage, at now: Int64, cleanUp: PushAuthCleanUp = .standard
  ) throws(PushAuthFailure) -> Reception {
    traces.removeAll { $0.until < now }
    if let trace = traces.first(where: { $0.messageID == message.messageID }) {
      guard trace.digest == message.digest else { throw .replayed }
      return notification(message.messageID).map { .known($0) } ?? .forgotten
    }
    guard !traces.contains(where: { $0.digest == message.digest }) else { throw .replayed }
    let notification = PushAuthNotification(message, received: now)
    let until = max(now.saturatingAdd(Self.shortestMemory), notification.expires)
    traces.append(Trace(messageID: message.messageID, digest: message.digest, until: until))
    if traces.count > Self.traceLimit {
      traces.sort { $0.until < $1.until }
      traces.removeFirst(traces.count - Self.traceLimit)
    }
    notifications.append(notification)
    prune(cleanUp, at: now, butFor: message.messageID)
    return .new(notification)
  }

  /// Indicates whether a message with this id was received and is still known.
  ///
  /// - Parameters:
  ///   - id: The message id.
  ///   - now: The current time, in milliseconds since 1970.
  /// - Returns: True if there is a notification or a trace that has not expired.
  public func remembers(_ id: String, at now: Int64) -> Bool {
    notification(id) != nil || traces.contains { $0.messageID == id && $0.until >= now }
  }

  /// Returns the notification with this message id; `nil` if there is none.
  public func notification(_ id: String) -> PushAuthNotification? { notifications.first { $0.id == id } }

  /// Returns the pending notifications, oldest first.
  ///
  /// - Parameter now: The current time, in milliseconds since 1970; `nil` to include expired ones.
  /// - Returns: The pending notifications.
  public func pending(at now: Int64?) -> [PushAuthNotification] {
    notifications.filter { notification in
      notification.isPending && (now.map { !notification.isExpired(at: $0) } ?? true)
    }
  }

  /// Validates an answer to a notification before anything is sent.
  ///
  /// - Parameters:
  ///   - id: The message id.
  ///   - answer: The answer.
  ///   - now: The current time, in milliseconds since 1970.
  ///   - skew: If given, a notification that expired more than this many milliseconds ago is rejected here; otherwise the
  ///     server decides.
  /// - Returns: The notification.
  /// - Throws: ``PushAuthFailure``: `noSuchNotification`, `notPending`, `ended`, `wrongAnswer`, `invalid`,
  ///   `numberNotOffered`, `expired`.
  public func answerable(
    _ id: String, with answer: PushAuthAnswer, at now: Int64, refusingExpiredBy skew: Int64? = nil
  ) throws(PushAuthFailure) -> PushAuthNotification {
    guard let candidate = notification(id) else { throw .noSuchNotification }
    guard candidate.decision == nil else { throw .notPending }
    guard candidate.ended == nil else { throw .ended }
    // A server may accept only one attempt, so a typing error must be caught here.
    let offered = candidate.message.numbers
    if let typed = try answer.checked(for: candidate.message.kind), !offered.isEmpty {
      guard candidate.message.takes(number: typed) else { throw .numberNotOffered(offered: offered) }
    }
    if let skew, answer != .deny, candidate.isExpired(at: now.saturatingAdd(skew == .min ? .max : -skew)) {
      throw .expired
    }
    return candidate
  }

  /// Records that the server accepted an answer; until then the notification is pending.
  ///
  /// - Parameters:
  ///   - decision: The accepted decision.
  ///   - id: The message id.
  ///   - now: The current time, in milliseconds since 1970.
  /// - Throws: ``PushAuthFailure``: `noSuchNotification`, `notPending`.
  public mutating func took(
    _ decision: PushAuthNotification.Decision, of id: String, at now: Int64
  ) throws(PushAuthFailure) {
    guard let index = notifications.firstIndex(where: { $0.id == id }) else { throw .noSuchNotification }
    guard notifications[index].decision == nil else { throw .notPending }
    // The answer itself may have caused the end that the server has already reported.
    (notifications[index].decision, notifications[index].answered) = (decision, now)
    notifications[index].ended = nil
  }

  /// Records that the server reported the end of notifications; answered and other notifications are unchanged.
  ///
  /// - Parameters:
  ///   - ids: The message ids.
  ///   - now: The current time, in milliseconds since 1970.
  /// - Returns: True if at least one of them was pending.
  public mutating func end(_ ids: Set<String>, at now: Int64) -> Bool {
    var hasEnded = false
    for index in notifications.indices
    where notifications[index].isPending && ids.contains(notifications[index].id) {
      notifications[index].ended = now
      hasEnded = true
    }
    return hasEnded
  }

  /// Records that the server reported notifications as pending: unanswered ones that had ended become pending again.
  ///
  /// - Parameter ids: The message ids.
  /// - Returns: True if at least one of them had ended.
  public mutating func reopen(_ ids: Set<String>) -> Bool {
    var hasReopened = false
    for index in notifications.indices
    where notifications[index].ended != nil && ids.contains(notifications[index].id) {
      notifications[index].ended = nil
      hasReopened = true
    }
    return hasReopened
  }

  /// Deletes a notification; its trace is kept.
  ///
  /// - Parameter id: The message id.
  /// - Returns: True if the notification existed.
  public mutating func remove(_ id: String) -> Bool {
    let count = notifications.count
    notifications.removeAll { $0.id == id }
    return notifications.count < count
  }

  /// Deletes notifications; their traces are kept.
  ///
  /// - Parameters:
  ///   - cleanUp: The rule.
  ///   - now: The current time, in milliseconds since 1970.
  public mutating func cleanUp(_ cleanUp: PushAuthCleanUp, at now: Int64) {
    prune(cleanUp, at: now, butFor: nil)
  }

  /// Deletes notifications, but never the newest one: a wrong clock must not delete it.
  private mutating func prune(_ cleanUp: PushAuthCleanUp, at now: Int64, butFor newest: String?) {
    var outdated = cleanUp.outdated(among: notifications, at: now)
      .union(PushAuthCleanUp.count(Self.limit).outdated(among: notifications, at: now))
    if let newest { outdated.remove(newest) }
    guard !outdated.isEmpty else { return }
    notifications.removeAll { outdated.contains($0.id) }
  }
}

extension PushAuthInbox: CustomStringConvertible, CustomReflectable {
  /// The number of notifications.
  public var description: String { "\(notifications.count) notifications" }

  /// An empty mirror, so that a dump does not show secrets.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
