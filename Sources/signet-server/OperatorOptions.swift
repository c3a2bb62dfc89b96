import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The options that select the server of a command, and the output format.
enum OperatorOptions {
  static let data = Option.value(
    "data", "The server's data folder", named: "dir", completion: .directory)
  static let requiredData = Option.value(
    "data", "The server's data folder", named: "dir", isRequired: true, completion: .directory)
  static let json = Option.flag("json", "Print JSON")

  /// The options of every command that is a client of a server.
  static let connection: [Option] = [
    .value(
      "data",
      "The server's data folder; where nothing listens yet, the command waits 2 seconds for the server to start",
      named: "dir", completion: .directory),
    .value("server", "The server, instead of --data", named: "host[:port]/domain"),
    .value("ca", "The certificates to trust, PEM, with --server", named: "file", completion: .file),
    .value("key-file", "The file with the API key", named: "file", completion: .file),
    json,
  ]
}

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
