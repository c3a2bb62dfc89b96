/// The rule for deleting old notifications.
public enum PushAuthCleanUp: Sendable, Hashable {
  /// Deletes none.
  case none
  /// Keeps this number of the newest notifications; a value below 1 counts as 1.
  case count(Int)
  /// Deletes notifications received more than this number of days ago; a value below 1 counts as 1.
  case age(days: Int)
  /// Applies both rules.
  case hybrid(count: Int, days: Int)

  /// The default: the newest 100, for at most 30 days.
  public static let standard = PushAuthCleanUp.hybrid(count: 100, days: 30)

  /// Returns the ids of the notifications to delete.
  ///
  /// - Parameters:
  ///   - notifications: All notifications; those received in the same millisecond are in their order of arrival.
  ///   - now: The current time, in milliseconds since 1970.
  /// - Returns: The message ids.
  public func outdated(among notifications: [PushAuthNotification], at now: Int64) -> Set<String> {
    let (count, days): (Int?, Int?) =
      switch self {
      case .none: (nil, nil)
      case .count(let count): (max(count, 1), nil)
      case .age(let days): (nil, max(days, 1))
      case .hybrid(let count, let days): (max(count, 1), max(days, 1))
      }
    var outdated: Set<String> = []
    if let days {
      let age = Int64(clamping: days).multipliedReportingOverflow(by: 86_400_000)
      let oldest = age.overflow ? Int64.min : now.saturatingAdd(-age.partialValue)
      for notification in notifications where notification.received < oldest {
        outdated.insert(notification.id)
      }
    }
    if let count, notifications.count > count {
      // Of notifications with the same time, the one earlier in the list arrived first.
      let oldestFirst = notifications.enumerated().sorted {
        ($0.element.received, $0.offset) < ($1.element.received, $1.offset)
      }
      for (_, notification) in oldestFirst.prefix(notifications.count - count) {
        outdated.insert(notification.id)
      }
    }
    return outdated
  }
}
