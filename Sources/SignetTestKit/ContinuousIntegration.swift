import Foundation

/// The CI machine (`.ci/run`): a missing requirement of a test is a failure there, and a reason to skip the test elsewhere.
package enum ContinuousIntegration {
  /// True on that machine: the environment variable `CI` is set and not empty.
  package static let isHere = ProcessInfo.processInfo.environment["CI"].map { !$0.isEmpty } ?? false
}
