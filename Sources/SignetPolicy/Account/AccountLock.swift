/// Who has locked an account.
public enum AccountLockSource: String, Sendable, Hashable, CaseIterable, Comparable {
  /// A policy is broken; the lock goes when it holds again.
  case policy
  /// Somebody locked it by hand; it stays until it is unlocked.
  case manual
  /// Its server; it stays until the server unlocks it.
  case server

  /// Policies first, then by hand, then the server.
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

/// Whether an account is locked, by whom, and why: three locks, which do not know of each other.
///
/// A locked account makes no codes, approves nothing and is not changed. It can be read and removed, and what is asked of its user
/// can be denied.
public struct AccountLock: Sendable, Hashable {
  /// A policy that is broken.
  public struct Broken: Sendable, Hashable {
    /// What is broken, with the latest evidence.
    public let breach: AccountPolicyBreach
    /// Since when, in seconds since 1970-01-01T00:00:00Z.
    public let since: Int64

    /// Names both.
    public init(breach: AccountPolicyBreach, since: Int64) { (self.breach, self.since) = (breach, since) }
  }

  /// A lock that somebody has set.
  public struct Order: Sendable, Hashable {
    /// Why; may be empty.
    public let reason: String
    /// The policy that was named as the cause.
    public let policy: String?
    /// Since when, in seconds since 1970-01-01T00:00:00Z.
    public let since: Int64

    /// Names all; the reason is cut to 400 characters.
    public init(reason: String, policy: String? = nil, since: Int64) {
      (self.reason, self.policy, self.since) = (String(reason.prefix(400)), policy, since)
    }
  }

  /// What is broken, in the order of evaluation.
  public internal(set) var broken: [Broken] = []
  /// The lock by hand.
  public internal(set) var manual: Order?
  /// The lock by the server.
  public internal(set) var server: Order?

  /// No lock.
  public init() {}

  /// Whether anything locks the account.
  public var isLocked: Bool { !broken.isEmpty || manual != nil || server != nil }

  /// Who locks it.
  public var sources: Set<AccountLockSource> {
    var sources: Set<AccountLockSource> = []
    if !broken.isEmpty { sources.insert(.policy) }
    if manual != nil { sources.insert(.manual) }
    if server != nil { sources.insert(.server) }
    return sources
  }

  /// The policy that locks it: the first that is broken or, where none is, the one that was named by who locked it.
  public var lockingPolicy: String? { broken.first?.breach.policy ?? manual?.policy ?? server?.policy }

  /// Takes an evaluation into account; the other two locks stay as they are.
  ///
  /// A policy that came to no result, or is not known here any more, stays broken where it was.
  ///
  /// - Parameters:
  ///   - report: The evaluation.
  ///   - now: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: Whether something else locks the account now. Newer evidence alone is no change.
  @discardableResult
  public mutating func apply(_ report: AccountPolicyReport, at now: Int64) -> Bool {
    let breaches = report.breaches
    let kept = Set(report.indeterminate + report.unknown).subtracting(breaches.map(\.policy))
    var next: [Broken] = []
    for result in report.results {
      let known = broken.first { $0.breach.policy == result.policy }
      if let breach = breaches.first(where: { $0.policy == result.policy }) {
        next.append(Broken(breach: breach, since: known?.since ?? now))
      } else if kept.contains(result.policy), let known {
        next.append(known)
      }
    }
    next += broken.filter { report.unknown.contains($0.breach.policy) }
    let isChanged = next.map(\.breach.policy) != broken.map(\.breach.policy)
    broken = next
    return isChanged
  }

  /// Locks by hand.
  ///
  /// - Parameters:
  ///   - policy: The policy that is the cause; `nil` where there is none.
  ///   - policies: The account's policies.
  ///   - reason: Why; may be empty.
  ///   - now: Seconds since 1970-01-01T00:00:00Z.
  /// - Throws: ``AccountLockFailure``: `alreadyLocked` by hand, `missingName`, `notAttached`.
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

  /// Ends the lock by hand; the other two stay.
  ///
  /// - Throws: ``AccountLockFailure/notLocked``; ``AccountLockFailure/lockedBy(_:)`` where only others lock the account.
  public mutating func unlock() throws(AccountLockFailure) {
    guard manual != nil else {
      throw isLocked ? .lockedBy(sources.sorted()) : .notLocked
    }
    manual = nil
  }

  /// Does what the server says: a lock in the place of its present one, or none.
  ///
  /// - Parameter order: The lock; `nil` ends it.
  public mutating func setServer(_ order: Order?) { server = order }
}

/// Why an account was not locked or unlocked by hand.
@nonexhaustive public enum AccountLockFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is locked by hand already.
  case alreadyLocked
  /// It is not locked.
  case notLocked
  /// It is not locked by hand, but by others, who alone can end that.
  case lockedBy([AccountLockSource])
  /// The name of the policy is empty.
  case missingName
  /// The account has no policy of this name.
  case notAttached(String)

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .alreadyLocked: "it is locked already"
    case .notLocked: "it is not locked"
    case .lockedBy(let sources) where sources.contains(.server):
      "it is locked by its server; report to it (signet condition report), or ask its operator to unlock it"
    case .lockedBy: "it is locked by its policies; mend what they say"
    case .missingName: "a policy without a name can lock nothing; name one, or none"
    case .notAttached(let name): "it has no policy \"\(AccountPolicySet.shown(name))\"; name one that it has"
    }
  }
}

extension AccountLock: CustomStringConvertible {
  /// Who has locked it, and what to do.
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
        parts.append("and by its server until that is mended and reported (signet condition report)")
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
