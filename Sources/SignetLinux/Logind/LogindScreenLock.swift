public import SignetVault

/// Screen locks and the machine's sleep on Linux, by the service logind on the system bus.
///
/// The screen counts as locked if logind asks any session of the user to lock, or a session reports that it is locked
/// (`LockedHint`). logind does not know which program shows the lock screen, or if one does.
public final class LogindScreenLock: ScreenLockObserver {
  private let address: String

  /// Creates an observer of the system's logind.
  public convenience init() { self.init(address: BusConnection.systemAddress) }

  /// Creates an observer of logind on any bus, for tests.
  ///
  /// - Parameter address: In the form of the D-Bus specification.
  package init(address: String) { self.address = address }

  /// Reports logind's events until the task is cancelled.
  ///
  /// - Throws: ``ScreenLockFailure``.
  public func observe(
    _ react: @escaping @Sendable (ScreenLockEvent) async -> Void
  ) async throws(ScreenLockFailure) {
    do throws(BusFailure) {
      let interruption = try Interruption()
      let watch = LogindWatch(interruption: interruption)
      let failure = await withTaskCancellationHandler {
        await Self.follow(watch, at: address, react)
      } onCancel: {
        interruption.fire()
      }
      throw failure
    } catch .interrupted {
      return
    } catch {
      throw ScreenLockFailure(error)
    }
  }

  /// Reports events until a failure, and returns the failure.
  private static func follow(
    _ watch: LogindWatch, at address: String, _ react: @Sendable (ScreenLockEvent) async -> Void
  ) async -> BusFailure {
    do throws(BusFailure) {
      let isLocked = try await watch.begin(at: address)
      await react(.watching(locked: isLocked))
      while true {
        let event = try await watch.next()
        await react(event)
        await watch.releaseInhibitor(after: event)
      }
    } catch { return error }
  }
}
