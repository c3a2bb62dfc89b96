import Synchronization

/// The settings that all services of a server share, which may change while it runs.
final class CurrentSettings: Sendable {
  /// An immutable snapshot: a reader retains one reference and copies no member.
  private final class Snapshot: Sendable {
    let settings: ServicePolicy

    init(_ settings: ServicePolicy) { self.settings = settings }
  }

  private let snapshot: Mutex<Snapshot>

  init(_ settings: ServicePolicy) { snapshot = Mutex(Snapshot(settings)) }

  /// The current settings.
  ///
  /// It is always inlined: a call would return a copy of all members, with reference counting in every thread.
  @inline(__always) var value: ServicePolicy { snapshot.withLock { $0 }.settings }

  func replace(with settings: ServicePolicy) {
    let next = Snapshot(settings)
    snapshot.withLock { $0 = next }
  }
}
