/// Which notifications are forgotten.
public enum PushAuthCleanUp: Sendable, Hashable {
  /// None.
  case none
  /// The oldest beyond so many; less than one counts as one.
  case count(Int)
  /// Those received longer ago than so many days; less than one counts as one.
  case age(days: Int)
  /// By both.
  case hybrid(count: Int, days: Int)

  /// A hundred, and 30 days.
  public static let standard = PushAuthCleanUp.hybrid(count: 100, days: 30)

  /// The names of those to forget.
  ///
  /// - Parameters:
  ///   - notifications: All of them, those that came in one moment in the order in which they came.
  ///   - now: In milliseconds since 1970.
  /// - Returns: The names.
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
      // Of those that came in one moment, the first in the list came first.
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
