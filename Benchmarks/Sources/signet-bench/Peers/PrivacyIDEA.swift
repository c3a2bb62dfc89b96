import Foundation
import SignetTestKit

/// privacyIDEA with a load on it, in separate processes (`Benchmarks/Peers/privacyidea_peer.py`).
struct PrivacyIDEA {
  /// Name and version.
  let version: String
  private let process: LineProcess

  /// Prepares and starts a server in a new folder, which takes some seconds; returns `nil` if it is not installed.
  init?(in peers: String, directory: String) throws {
    let path = "\(peers)/privacyidea_peer"
    guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
    process = try LineProcess(path, [directory])
    version = try process.readLine()
  }

  /// Returns the validations of new codes per second.
  func rate(seconds: Int) throws -> Double {
    let answer = try process.ask(String(seconds))
    guard let rate = Double(answer), rate > 0 else {
      throw BenchmarkFailure(description: "privacyIDEA answered \(answer)")
    }
    return rate
  }
}
