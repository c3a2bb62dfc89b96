import Synchronization

/// The settings that all services of a server share, which may become others while it runs.
final class CurrentSettings: Sendable {
  private let settings: Mutex<ServerSettings>

  init(_ settings: ServerSettings) { self.settings = Mutex(settings) }

  /// The settings of this moment.
  var value: ServerSettings { settings.withLock { $0 } }

  func replace(with settings: ServerSettings) { self.settings.withLock { $0 = settings } }
}
