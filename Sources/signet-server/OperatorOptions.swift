import SignetTerminal

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
