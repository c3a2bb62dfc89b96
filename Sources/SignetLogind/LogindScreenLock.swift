import SignetDBus
public import SignetVault

/// The screen and the machine's sleep on Linux, by the service logind on the system bus.
///
/// A screen counts as locked when any session of the user is told to lock, or says itself that it is (`LockedHint`). Which
/// program shows the lock, and whether it does, is not logind's to know.
public final class LogindScreenLock: ScreenLockObserver {
  private let address: String

  /// Observes the system's logind.
  public convenience init() { self.init(address: BusConnection.systemAddress) }

  /// Observes logind on any bus: for tests.
  ///
  /// - Parameter address: In the form of the D-Bus specification.
  package init(address: String) { self.address = address }

  /// Tells what logind says, until the task is cancelled.
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

  /// Follows the events to their end, and returns what that was.
  private static func follow(
    _ watch: LogindWatch, at address: String, _ react: @Sendable (ScreenLockEvent) async -> Void
  ) async -> BusFailure {
    do throws(BusFailure) {
      let isLocked = try await watch.begin(at: address)
      await react(.watching(locked: isLocked))
      while true {
        let event = try await watch.next()
        await react(event)
        await watch.letGo(after: event)
      }
    } catch { return error }
  }
}
