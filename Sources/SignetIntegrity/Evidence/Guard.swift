/// A check for one kind of tampering.
///
/// A guard is a small value that any thread can run repeatedly; it takes a few milliseconds at most. It returns evidence and
/// no verdict: ``IntegritySettings`` weighs the evidence, and a ``Reaction`` follows.
///
/// ```swift
/// struct MouseGuard: Guard {
///   let name = "mouse"
///   func examine() -> [Evidence] { … }
/// }
/// ```
public protocol Guard: Sendable {
  /// A short word in lower case, unique in a list of guards.
  var name: String { get }

  /// The process in which the guard runs; ``GuardPlacement/inProcess(limit:)`` by default.
  var placement: GuardPlacement { get }

  /// Examines the process or system, on a thread that may block.
  ///
  /// In a child process (``GuardPlacement/child(limit:)``) it sees a copy of the parent's memory but none of its other
  /// threads, and must not wait for them.
  ///
  /// - Returns: The evidence; empty if there is none.
  /// - Throws: Any error; it becomes evidence (``Finding/failedGuard``).
  func examine() throws -> [Evidence]
}

extension Guard {
  /// In the process, with a limit of ten seconds: a busy machine is not an attack.
  public var placement: GuardPlacement { .inProcess() }
}

/// The process in which a guard runs, and its time limit.
@nonexhaustive public enum GuardPlacement: Sendable, Hashable {
  /// On a thread of this process.
  ///
  /// After the limit the caller stops waiting; the thread goes on, and the guard is not started again until it has returned.
  case inProcess(limit: Duration = .seconds(10))
  /// In a child process, which is killed after the limit; a crash there affects nothing else.
  ///
  /// If the platform has no child processes for apps (iOS), it runs like ``inProcess(limit:)``.
  case child(limit: Duration = .seconds(5))

  /// The time limit.
  public var limit: Duration {
    switch self {
    case .inProcess(let limit), .child(let limit): limit
    }
  }
}

/// A wrapper that runs a guard in a child process, regardless of the guard's own placement.
///
/// Give it an instance of its own. A lock that another thread holds at the fork stays locked in the copy, and the guard
/// reports "took too long". The standard guards, of which several have a lock, run in the program's process.
public struct IsolatedGuard: Guard {
  private let base: any Guard
  /// A child process.
  public let placement: GuardPlacement

  /// Creates a wrapper.
  ///
  /// - Parameters:
  ///   - base: The guard.
  ///   - limit: The time limit.
  public init(_ base: any Guard, limit: Duration = .seconds(5)) {
    self.base = base
    placement = .child(limit: limit)
  }

  /// The name of the wrapped guard.
  public var name: String { base.name }

  /// Runs the wrapped guard.
  public func examine() throws -> [Evidence] { try base.examine() }
}

/// The reason why a guard could not examine.
public struct GuardFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason, in a sentence without a full stop.
  public let description: String

  /// Creates a failure.
  public init(_ description: String) { self.description = description }
}
