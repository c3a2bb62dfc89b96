import Foundation

package enum KillCount {
  /// The value of `SIGNET_KILLS`, which `make kill-test` sets; nil means that a test kills a few times.
  package static let wanted = ProcessInfo.processInfo.environment["SIGNET_KILLS"].map { text in
    guard let count = Int(text), count > 0 else { preconditionFailure("SIGNET_KILLS is a number above 0") }
    return count
  }
}
