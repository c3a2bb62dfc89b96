#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The app's part of a reaction.
public protocol IntegrityResponder: Sendable {
  /// Locks the app's open data until the evidence is gone (``Reaction/lock``).
  func lock(because report: IntegrityReport) async
  /// Wipes stored keys and passwords (``Reaction/wipeSession``).
  func wipeSession(because report: IntegrityReport) async
  /// Reports the cause and ends the program (``Reaction/terminate``).
  func terminate(because report: IntegrityReport) async -> Never
}

extension IntegrityResponder {
  /// The default: does nothing; the operation is still refused.
  public func lock(because report: IntegrityReport) async {}
  /// The default: does nothing, for an app without a session.
  public func wipeSession(because report: IntegrityReport) async {}

  /// The default: writes the findings to standard error and exits with status 77 (`EX_NOPERM`), without a crash.
  public func terminate(because report: IntegrityReport) async -> Never {
    let message = Array("This program terminates: \(IntegrityFailure.tampered(report))\n".utf8)
    _ = unsafe message.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(77)
  }
}

/// A gate in front of operations with keys; it applies the reaction when tampering is found.
public struct IntegrityGate: Sendable {
  private let integrity: Integrity
  private let responder: any IntegrityResponder

  /// Creates a gate.
  ///
  /// - Parameters:
  ///   - integrity: The evaluation.
  ///   - responder: The app's part of the reactions; without one the app locks and wipes its sessions itself when the gate
  ///     throws.
  public init(_ integrity: Integrity, responder: any IntegrityResponder = PlainResponder()) {
    self.integrity = integrity
    self.responder = responder
  }

  /// Evaluates, and applies the reaction if the score reaches the threshold.
  ///
  /// - Parameter lock: Locks the caller's own open data; called before the responder if the reaction is to lock or to wipe.
  /// - Returns: The report, if the operation may go on.
  /// - Throws: ``IntegrityFailure/tampered(_:)`` if it may not.
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

/// The default responder, for programs without sessions.
public struct PlainResponder: IntegrityResponder {
  /// Creates a responder.
  public init() {}
}
