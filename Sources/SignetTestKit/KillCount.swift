import Foundation

/// How often kill tests kill.
package enum KillCount {
  /// `SIGNET_KILLS`, which `make kill-test` sets; nil where a test kills a few times.
  package static let wanted = ProcessInfo.processInfo.environment["SIGNET_KILLS"].map { text in
    guard let count = Int(text), count > 0 else { preconditionFailure("SIGNET_KILLS is a number above 0") }
    return count
  }
}
