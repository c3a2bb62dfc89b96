import Foundation
import SignetTestKit

/// `signet-server`.
enum ServerCommand {
  typealias Result = ChildProcess.Result

  /// Prepares a process in an environment without Signet's variables.
  static func process(_ words: [String], _ environment: [String: String] = [:]) throws -> ChildCommand {
    ChildCommand([try executable()] + words, environment: cleanEnvironment.merging(environment) { $1 })
  }

  static func executable() throws -> String { try Programs.path("signet-server") }

  static var cleanEnvironment: [String: String] {
    // The machine's TPM is not used.
    ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SIGNET_") && $0.key != "COLUMNS" }
      .merging(["SIGNET_TPM": "none"]) { $1 }
  }

  /// Runs the command to its end.
  static func run(_ words: String..., environment: [String: String] = [:]) async throws -> Result {
    try await run(words, environment)
  }

  static func run(_ words: [String], _ environment: [String: String] = [:]) async throws -> Result {
    try await process(words, environment).finish()
  }
}
