import SignetCrypto

/// The notifications of one mechanism, and what it has received before: a value, to be stored after each change.
///
/// A message id stands for one content, and a content for one message id, also after the notification was forgotten: the
/// message id lies outside of the signed token, so that anybody on the way could deliver one token under many ids.
public struct PushAuthInbox: Sendable, Hashable {
  /// What became of a message.
  public enum Reception: Sendable, Hashable {
    /// It is new, and waits.
    case new(PushAuthNotification)
    /// It was delivered again; this is what was made of it then.
    case known(PushAuthNotification)
    /// It was delivered again, and the notification was forgotten meanwhile.
    case forgotten
  }

  /// What is remembered of a message.
  struct Trace: Sendable, Hashable {
    let messageID: String
    let digest: [UInt8]
    /// Until when, in milliseconds since 1970.
    let until: Int64
  }

  /// The most notifications that wait or are kept, whatever the clean-up says.
  public static let limit = 1000
  /// How long a message is remembered at least, in milliseconds: 30 days, or as long as it lives where that is longer.
  public static let shortestMemory: Int64 = 30 * 86_400_000
  /// The most messages that are remembered; beyond, those are forgotten whose time ends first.
  public static let traceLimit = 10_000

  /// All notifications, the oldest first.
  public internal(set) var notifications: [PushAuthNotification]
  var traces: [Trace]

  /// An empty one.
  public init() { (notifications, traces) = ([], []) }

  /// Takes a verified message.
  ///
  /// - Parameters:
  ///   - message: The message; its mechanism is the caller's to compare.
  ///   - now: In milliseconds since 1970.
  ///   - cleanUp: Which notifications are forgotten afterwards.
  /// - Returns: What became of it.
  /// - Throws: ``PushAuthFailure/replayed``.
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
    forget(cleanUp, at: now, butFor: message.messageID)
    return .new(notification)
  }

  /// Whether a message of this id was received, and is remembered.
  ///
  /// - Parameters:
  ///   - id: The message id.
  ///   - now: In milliseconds since 1970.
  /// - Returns: Whether it was.
  public func remembers(_ id: String, at now: Int64) -> Bool {
    notification(id) != nil || traces.contains { $0.messageID == id && $0.until >= now }
  }

  /// The notification of this message id.
  public func notification(_ id: String) -> PushAuthNotification? { notifications.first { $0.id == id } }

  /// The notifications that wait, the oldest first.
  ///
  /// - Parameter now: In milliseconds since 1970; `nil` includes those whose time is over.
  /// - Returns: The notifications.
  public func pending(at now: Int64?) -> [PushAuthNotification] {
    notifications.filter { notification in
      notification.isPending && (now.map { !notification.isExpired(at: $0) } ?? true)
    }
  }

  /// Checks that a notification can be answered in a way, before anything is sent.
  ///
  /// - Parameters:
  ///   - id: The message id.
  ///   - answer: The answer.
  ///   - now: In milliseconds since 1970.
  ///   - skew: Where given, one that has expired by more than so many milliseconds is refused here; else the server decides.
  /// - Returns: The notification.
  /// - Throws: ``PushAuthFailure``: `noSuchNotification`, `notPending`, `ended`, `wrongAnswer`, `invalid`, `numberNotOffered`,
  ///   `expired`.
  public func answerable(
    _ id: String, with answer: PushAuthAnswer, at now: Int64, refusingExpiredBy skew: Int64? = nil
  ) throws(PushAuthFailure) -> PushAuthNotification {
    guard let found = notification(id) else { throw .noSuchNotification }
    guard found.decision == nil else { throw .notPending }
    guard found.ended == nil else { throw .ended }
    // A server may take one number and no second, so a slip would be the answer.
    let offered = found.message.numbers
    if let typed = try answer.checked(for: found.message.kind), !offered.isEmpty {
      guard found.message.takes(number: typed) else { throw .numberNotOffered(offered: offered) }
    }
    if let skew, answer != .deny, found.isExpired(at: now.saturatingAdd(skew == .min ? .max : -skew)) {
      throw .expired
    }
    return found
  }

  /// Notes that the server took an answer; until then a notification stays pending.
  ///
  /// - Parameters:
  ///   - decision: What it took.
  ///   - id: The message id.
  ///   - now: In milliseconds since 1970.
  /// - Throws: ``PushAuthFailure``: `noSuchNotification`, `notPending`.
  public mutating func took(
    _ decision: PushAuthNotification.Decision, of id: String, at now: Int64
  ) throws(PushAuthFailure) {
    guard let index = notifications.firstIndex(where: { $0.id == id }) else { throw .noSuchNotification }
    guard notifications[index].decision == nil else { throw .notPending }
    // The answer itself may be the end that the server has told already.
    (notifications[index].decision, notifications[index].answered) = (decision, now)
    notifications[index].ended = nil
  }

  /// Notes that the server has said of notifications that they wait no more; those that were answered, and others, stay as they are.
  ///
  /// - Parameters:
  ///   - ids: The message ids.
  ///   - now: In milliseconds since 1970.
  /// - Returns: Whether any was pending.
  public mutating func end(_ ids: Set<String>, at now: Int64) -> Bool {
    var hasEnded = false
    for index in notifications.indices
    where notifications[index].isPending && ids.contains(notifications[index].id) {
      notifications[index].ended = now
      hasEnded = true
    }
    return hasEnded
  }

  /// Notes that the server says of notifications that they wait: those of which it has said otherwise before, and that were not answered,
  /// wait again.
  ///
  /// - Parameter ids: The message ids.
  /// - Returns: Whether any had ended.
  public mutating func reopen(_ ids: Set<String>) -> Bool {
    var hasReopened = false
    for index in notifications.indices
    where notifications[index].ended != nil && ids.contains(notifications[index].id) {
      notifications[index].ended = nil
      hasReopened = true
    }
    return hasReopened
  }

  /// Forgets one notification; what was received stays remembered.
  ///
  /// - Parameter id: The message id.
  /// - Returns: Whether there was one.
  public mutating func remove(_ id: String) -> Bool {
    let count = notifications.count
    notifications.removeAll { $0.id == id }
    return notifications.count < count
  }

  /// Forgets notifications; what was received stays remembered.
  ///
  /// - Parameters:
  ///   - cleanUp: Which ones.
  ///   - now: In milliseconds since 1970.
  public mutating func cleanUp(_ cleanUp: PushAuthCleanUp, at now: Int64) {
    forget(cleanUp, at: now, butFor: nil)
  }

  /// Never the one that has just come, whatever the clock says.
  private mutating func forget(_ cleanUp: PushAuthCleanUp, at now: Int64, butFor newest: String?) {
    var outdated = cleanUp.outdated(among: notifications, at: now)
      .union(PushAuthCleanUp.count(Self.limit).outdated(among: notifications, at: now))
    if let newest { outdated.remove(newest) }
    guard !outdated.isEmpty else { return }
    notifications.removeAll { outdated.contains($0.id) }
  }
}

extension PushAuthInbox: CustomStringConvertible, CustomReflectable {
  /// How many there are.
  public var description: String { "\(notifications.count) notifications" }

  /// No parts, so that a dump does not show them.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
