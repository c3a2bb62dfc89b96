import Dispatch
import Foundation

/// Calls back at each `SIGHUP`, which ends the process no more.
final class HangUpSignal: Sendable {
  // Written in `init` only; a source may be used from any thread.
  nonisolated(unsafe) private let source: any DispatchSourceSignal

  /// Takes the signal over until ``cancel()``.
  init(_ body: @escaping @Sendable () -> Void) {
    signal(SIGHUP, SIG_IGN)  // the source sees it all the same
    source = DispatchSource.makeSignalSource(
      signal: SIGHUP, queue: DispatchQueue(label: "signet.server.hang-up"))
    source.setEventHandler(handler: body)
    source.resume()
  }

  /// Calls back no more.
  func cancel() { source.cancel() }
}
