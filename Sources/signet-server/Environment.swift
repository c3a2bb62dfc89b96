import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The variables that `signet-server` reads; an empty one counts as unset.
enum Environment {
  static var server: String? { value("SIGNET_SERVER") }
  static var authorityFile: String? { value("SIGNET_CA_FILE") }
  static var apiKeyFile: String? { value("SIGNET_API_KEY_FILE") }
  static var masterKeyFile: String? { value("SIGNET_MASTER_KEY_FILE") }

  /// Returns the command that serves a folder, with the environment variable of this command that it also needs.
  static func serving(_ folder: String) -> String {
    let variable = masterKeyFile.map { "SIGNET_MASTER_KEY_FILE=\(shellWord($0)) " }
    return "\(variable ?? "")signet-server serve --data \(shellWord(folder))"
  }

  private static func value(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
  }
}
