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

  private static func value(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
  }
}
