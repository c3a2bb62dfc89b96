/// A serial executor that also runs plain closures, in the order of submission.
///
/// Code with blocking work, such as a database connection, gets an executor at creation: a ``DedicatedThread`` in a program,
/// or an executor driven by a seeded scheduler in a simulation.
package protocol StepExecutor: SerialExecutor {
  /// Runs `body` after all work that was submitted before it; the caller does not wait.
  func begin(_ body: @escaping @Sendable () -> Void)
}

extension BlockingExecutor: StepExecutor {}
