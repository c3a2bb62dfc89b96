import Foundation
import SignetTestKit
import Testing

/// The command-line tools that make certificates and run the server.
enum Tools {
  /// Indicates whether the tests run; without a tool they are skipped, but fail in CI.
  static let areWanted: Bool =
    ContinuousIntegration.isHere
    || ["openssl", "python3"].allSatisfy { path(of: $0) != nil }

  /// Runs a tool and waits for it.
  ///
  /// - Returns: Its standard output.
  @discardableResult
  static func run(_ tool: String, _ arguments: [String]) throws -> [UInt8] {
    let result = try ChildCommand([tool] + arguments).finish()
    try #require(result.status == 0, "\(tool) \(arguments): \(result.errorOutput)")
    return result.outputBytes
  }

  /// The path of a tool.
  static func path(of tool: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/\(tool)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test if `openssl` or `python3` is missing.
  static var needsServer: Self { .enabled(if: Tools.areWanted, "needs openssl and python3") }
}
