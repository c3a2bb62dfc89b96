import Foundation

/// The CI machine (`.ci/run`): a missing requirement of a test is a failure there, and a reason to skip the test elsewhere.
package enum ContinuousIntegration {
  /// True on that machine: the environment variable `CI` is set and not empty.
  package static let isHere = ProcessInfo.processInfo.environment["CI"].map { !$0.isEmpty } ?? false
}

package enum KillCount {
  /// The value of `SIGNET_KILLS`, which `make kill-test` sets; nil means that a test kills a few times.
  package static let wanted = ProcessInfo.processInfo.environment["SIGNET_KILLS"].map { text in
    guard let count = Int(text), count > 0 else { preconditionFailure("SIGNET_KILLS is a number above 0") }
    return count
  }
}
