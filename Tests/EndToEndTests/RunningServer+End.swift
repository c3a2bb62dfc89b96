import Foundation
import SignetTestKit
import Testing

extension ChildProcess {
  /// The exit status; negative, the number of the signal.
  ///
  /// A child that does not end in time is an issue of the test.
  func status() async -> Int32 {
    do { return try await end() } catch {
      Issue.record(error)
      return .min
    }
  }
}

extension RunningServer {
  /// Ends it the hard way and waits until it is gone.
  func killAndWait() async {
    send(SIGKILL)
    _ = await status()
  }
}
