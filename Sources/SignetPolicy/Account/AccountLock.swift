/// The origin of an account's lock.
public enum AccountLockSource: String, Sendable, Hashable, CaseIterable, Comparable {
  /// A broken policy; the lock ends when the policy holds again.
  case policy
  /// A manual lock; it stays until it is unlocked.
  case manual
  /// The account's server; the lock stays until the server unlocks it.
  case server

  /// The order `policy`, `manual`, `server`.
  public static func < (left: AccountLockSource, right: AccountLockSource) -> Bool {
    left.order < right.order
  }

  private var order: Int {
    switch self {
    case .policy: 0
    case .manual: 1
    case .server: 2
    }
  }
}

/// The locks of an account: by policies, by hand and by the server, each independent of the others.
///
/// A locked account makes no codes, approves nothing and cannot be changed. It can be read and removed, and its user can
/// deny requests.
public struct AccountLock: Sendable, Hashable {
  /// A broken policy and the time since when it is broken.
  public struct Broken: Sendable, Hashable {
    /// The breach, with the latest evidence.
    public let breach: AccountPolicyBreach
    /// The start of the breach, in seconds since 1970-01-01T00:00:00Z.
    public let since: Int64

    /// Creates an entry.
    public init(breach: AccountPolicyBreach, since: Int64) { (self.breach, self.since) = (breach, since) }
  }

  /// A lock that was set by hand or by the server.
  public struct Order: Sendable, Hashable {
    /// The reason; may be empty.
    public let reason: String
    /// The policy that was named as the cause.
    public let policy: String?
    /// The start of the lock, in seconds since 1970-01-01T00:00:00Z.
    public let since: Int64

    /// Creates a lock; the reason is cut to 400 characters.
    public init(reason: String, policy: String? = nil, since: Int64) {
      (self.reason, self.policy, self.since) = (String(reason.prefix(400)), policy, since)
    }
  }

  /// The broken policies, in the order of evaluation.
  public internal(set) var broken: [Broken] = []
  /// The manual lock.
  public internal(set) var manual: Order?
  /// The server's lock.
  public internal(set) var server: Order?

  /// Creates the state of an unlocked account.
  public init() {}

  /// True if at least one lock is set.
  public var isLocked: Bool { !broken.isEmpty || manual != nil || server != nil }

  /// The origins of the present locks.
  public var sources: Set<AccountLockSource> {
    var sources: Set<AccountLockSource> = []
    if !broken.isEmpty { sources.insert(.policy) }
    if manual != nil { sources.insert(.manual) }
    if server != nil { sources.insert(.server) }
    return sources
  }

  /// The first broken policy or, if none is broken, the policy that the manual or the server's lock names.
  public var lockingPolicy: String? { broken.first?.breach.policy ?? manual?.policy ?? server?.policy }

  /// Updates the broken policies from an evaluation; the manual and the server's lock stay unchanged.
  ///
  /// A policy stays broken if it was broken and now has no result or is no longer registered.
  ///
  /// - Parameters:
  ///   - report: The evaluation.
  ///   - now: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: True if the list of broken policies changed. New evidence for the same policies is no change.
  @discardableResult
  public mutating func apply(_ report: AccountPolicyReport, at now: Int64) -> Bool {
    let breaches = report.breaches
    let undecided = Set(report.indeterminate + report.unknown).subtracting(breaches.map(\.policy))
    var next: [Broken] = []
    for result in report.results {
      let known = broken.first { $0.breach.policy == result.policy }
      if let breach = breaches.first(where: { $0.policy == result.policy }) {
        next.append(Broken(breach: breach, since: known?.since ?? now))
      } else if undecided.contains(result.policy), let known {
        next.append(known)
      }
    }
    next += broken.filter { report.unknown.contains($0.breach.policy) }
    let isChanged = next.map(\.breach.policy) != broken.map(\.breach.policy)
    broken = next
    return isChanged
  }

  /// Sets the manual lock.
  ///
  /// - Parameters:
  ///   - policy: The policy that is the cause; `nil` if there is none.
  ///   - policies: The account's policies.
  ///   - reason: The reason; may be empty.
  ///   - now: Seconds since 1970-01-01T00:00:00Z.
  /// - Throws: ``AccountLockFailure``: `alreadyLocked` if a manual lock is set, `missingName`, `notAttached`.
  public mutating func lock(
    naming policy: String? = nil, of policies: AccountPolicySet = AccountPolicySet(), reason: String = "",
    at now: Int64
  ) throws(AccountLockFailure) {
    guard manual == nil else { throw .alreadyLocked }
    if let policy {
      guard !policy.isEmpty else { throw .missingName }
      guard policies[policy] != nil else { throw .notAttached(policy) }
    }
    manual = Order(reason: reason, policy: policy, since: now)
  }

  /// Ends the manual lock; the other two stay.
  ///
  /// - Throws: ``AccountLockFailure/notLocked``; ``AccountLockFailure/lockedBy(_:)`` if only policies or the server lock the
  ///   account.
  public mutating func unlock() throws(AccountLockFailure) {
    guard manual != nil else {
      throw isLocked ? .lockedBy(sources.sorted()) : .notLocked
    }
    manual = nil
  }

  /// Replaces the server's lock.
  ///
  /// - Parameter order: The new lock; `nil` ends it.
  public mutating func setServer(_ order: Order?) { server = order }
}

/// Why a manual lock or unlock failed.
@nonexhaustive public enum AccountLockFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A manual lock is set already.
  case alreadyLocked
  /// No lock is set.
  case notLocked
  /// No manual lock is set; only the listed sources can end theirs.
  case lockedBy([AccountLockSource])
  /// The name of the policy is empty.
  case missingName
  /// The account has no policy of this name.
  case notAttached(String)

  /// The cause and the remedy.
  public var description: String {
    switch self {
    case .alreadyLocked:
      "it is locked already, by hand; to change the reason, unlock it first (signet condition unlock, or signet account unlock)"
    case .notLocked: "it is not locked"
    case .lockedBy(let sources) where sources.contains(.server):
      "it is locked by its server; report to it (signet condition report), or ask its operator to unlock it"
    case .lockedBy:
      "its policies lock it until this device meets them (signet condition show, or signet account list)"
    case .missingName: "the policy name is empty; give the name of a policy, or leave it out"
    case .notAttached(let name):
      "it has no policy \"\(AccountPolicySet.shown(name))\"; give the name of one of its policies"
    }
  }
}

extension AccountLock: CustomStringConvertible {
  /// The locks, and the way to end each of them.
  public var description: String {
    var parts: [String] = []
    if let first = broken.first {
      let others = broken.count > 1 ? " (and \(broken.count - 1) more)" : ""
      parts.append("locked by policy \(first.breach.policy): \(first.breach.reason)\(others)")
    }
    if let manual {
      let why = manual.reason.isEmpty ? "" : ": \(manual.reason)"
      parts.append("locked by hand\(why); unlock it (signet condition unlock, or signet account unlock)")
    }
    if let server {
      if broken.contains(where: { server.reason.hasPrefix("\($0.breach.policy): ") }) {
        parts.append("and by its server until that is fixed and reported (signet condition report)")
      } else {
        let why = server.reason.isEmpty ? "" : ": \(server.reason)"
        parts.append(
          "locked by its server\(why); report to it (signet condition report), or ask its operator to unlock it"
        )
      }
    }
    return parts.isEmpty ? "not locked" : parts.joined(separator: "; ")
  }
}
