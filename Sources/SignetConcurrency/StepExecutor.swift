/// A serial executor that also runs plain closures, in the order in which both were given.
///
/// Whoever owns blocking work (a database connection) takes one at creation: a ``DedicatedThread`` in a program, an executor that
/// a seeded scheduler drives in a simulation.
package protocol StepExecutor: SerialExecutor {
  /// Runs `body` after everything that was given before it; nobody waits.
  func begin(_ body: @escaping @Sendable () -> Void)
}

extension BlockingExecutor: StepExecutor {}
