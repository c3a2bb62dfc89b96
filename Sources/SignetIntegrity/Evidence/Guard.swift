/// Looks for one kind of tampering.
///
/// A guard is a small value that can be asked again and again, from any thread, and costs a few milliseconds at the most. It gives
/// evidence and never a verdict: what evidence weighs is for ``IntegritySettings`` to say, and what follows is a ``Reaction``.
///
/// ```swift
/// struct MouseGuard: Guard {
///   let name = "mouse"
///   func examine() -> [Evidence] { … }
/// }
/// ```
public protocol Guard: Sendable {
  /// A short word in lower case that no other guard of a list has.
  var name: String { get }

  /// Where it runs; ``GuardPlacement/inProcess`` unless the guard says otherwise.
  var placement: GuardPlacement { get }

  /// Looks, on a thread that may block.
  ///
  /// In a process of its own (``GuardPlacement/child(limit:)``) it sees a copy of this process's memory and of no other of its
  /// threads, and must not wait for any.
  ///
  /// - Returns: What was found; nothing where all is as it should be.
  /// - Throws: Whatever keeps it from looking; that is evidence as well (``Finding/failedGuard``).
  func examine() throws -> [Evidence]
}

extension Guard {
  /// In the process, for at most ten seconds: a busy machine is no attack.
  public var placement: GuardPlacement { .inProcess() }
}

/// Where a guard runs, and how long it may take.
@nonexhaustive public enum GuardPlacement: Sendable, Hashable {
  /// On a thread of this process. One that takes longer is waited for no more; its thread stays with it, and it is not started again
  /// until it has come back.
  case inProcess(limit: Duration = .seconds(10))
  /// In a process of its own, which is ended when its time is over. A crash there ends nothing else. Where the platform has no
  /// processes for apps (iOS), it runs as ``inProcess(limit:)``.
  case child(limit: Duration = .seconds(5))

  /// How long it may take.
  public var limit: Duration {
    switch self {
    case .inProcess(let limit), .child(let limit): limit
    }
  }
}

/// A guard that runs in a process of its own, whatever it says itself.
///
/// Give it an instance of its own. A lock that another thread holds at the fork stays locked in the copy, and the guard reports "took too
/// long". The standard guards, of which several have a lock, run in the program's process.
public struct IsolatedGuard: Guard {
  private let base: any Guard
  /// In a process of its own.
  public let placement: GuardPlacement

  /// Isolates a guard.
  ///
  /// - Parameters:
  ///   - base: The guard.
  ///   - limit: How long it may take.
  public init(_ base: any Guard, limit: Duration = .seconds(5)) {
    self.base = base
    placement = .child(limit: limit)
  }

  /// The name of the guard inside.
  public var name: String { base.name }

  /// What the guard inside finds.
  public func examine() throws -> [Evidence] { try base.examine() }
}
