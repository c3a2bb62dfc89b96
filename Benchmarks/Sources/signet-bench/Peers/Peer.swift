import Foundation
import SignetTestKit

/// Another implementation, in a separate process that accepts commands (`Benchmarks/Peers/peer.h`).
struct Peer {
  let name: String
  private let process: LineProcess

  /// Starts a peer's program; returns `nil` if it was not built because its library is not installed.
  init?(_ name: String, in directory: String) throws {
    let path = "\(directory)/\(name)_peer"
    guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
    self.name = name
    process = try LineProcess(path)
  }

  /// Sends it an input.
  func set(_ name: String, _ text: String) throws { try process.send("set \(name) \(text)") }

  /// Returns one of its operations as a contender.
  func contender(_ operation: String) -> Race.Contender {
    Race.Contender(
      name,
      measured: { count in
        let answer = try process.ask("run \(operation) \(count)")
        guard let nanoseconds = Double(answer) else {
          throw BenchmarkFailure(description: "\(name) answered \(answer)")
        }
        return nanoseconds
      })
  }
}
