import Foundation

/// The machine that checks each change (`.ci/run`): what a test needs and does not find is a failure there, and a reason to skip
/// it elsewhere.
package enum ContinuousIntegration {
  /// Whether this is that machine: the environment's `CI` is there and not empty.
  package static let isHere = ProcessInfo.processInfo.environment["CI"].map { !$0.isEmpty } ?? false
}
