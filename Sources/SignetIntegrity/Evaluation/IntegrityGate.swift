#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Does what a reaction asks for that only the app can do.
public protocol IntegrityResponder: Sendable {
  /// Locks what the app has, until evidence is gone (``Reaction/lock``).
  func lock(because report: IntegrityReport) async
  /// Wipes kept keys and passwords (``Reaction/wipeSession``).
  func wipeSession(because report: IntegrityReport) async
  /// Ends the program, after saying why (``Reaction/terminate``).
  func terminate(because report: IntegrityReport) async -> Never
}

extension IntegrityResponder {
  /// Nothing: what is refused is refused all the same.
  public func lock(because report: IntegrityReport) async {}
  /// Nothing: for an app that keeps no session.
  public func wipeSession(because report: IntegrityReport) async {}

  /// Says on standard error what was found, and ends the process with status 77 (`EX_NOPERM`): no crash, and no silence.
  public func terminate(because report: IntegrityReport) async -> Never {
    let message = Array("This program ends itself: \(IntegrityFailure.tampered(report))\n".utf8)
    _ = unsafe message.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(77)
  }
}

/// Stands before what needs a key, and lets nothing pass that a reaction forbids.
public struct IntegrityGate: Sendable {
  private let integrity: Integrity
  private let responder: any IntegrityResponder

  /// A gate.
  ///
  /// - Parameters:
  ///   - integrity: What judges.
  ///   - responder: What locks, wipes and ends; without one, sessions are the app's to lock and wipe when something is refused.
  public init(_ integrity: Integrity, responder: any IntegrityResponder = PlainResponder()) {
    self.integrity = integrity
    self.responder = responder
  }

  /// Evaluates, and reacts where the score reaches the threshold.
  ///
  /// - Parameter lock: Locks what the caller itself keeps open, where the reaction is to lock or to wipe; before the responder is asked.
  /// - Returns: The report, where things may go on.
  /// - Throws: ``IntegrityFailure/tampered(_:)`` where they may not.
  @discardableResult public func admit(
    locking lock: () -> Void = {}
  ) async throws(IntegrityFailure) -> IntegrityReport {
    let report = await integrity.evaluate()
    guard report.isTampered else { return report }
    switch report.reaction {
    case .report: return report
    case .refuse: break
    case .lock:
      lock()
      await responder.lock(because: report)
    case .wipeSession:
      lock()
      await responder.wipeSession(because: report)
    case .terminate: await responder.terminate(because: report)
    }
    throw .tampered(report)
  }
}

/// Refuses and ends; for programs without sessions.
public struct PlainResponder: IntegrityResponder {
  /// A responder.
  public init() {}
}
