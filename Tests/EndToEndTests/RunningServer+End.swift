import Foundation
import SignetTestKit
import Testing

extension ChildProcess {
  /// Waits for the exit status; a negative one is the number of the signal.
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
  /// Kills the server and waits until it has ended.
  func killAndWait() async {
    send(SIGKILL)
    _ = await status()
  }
}
