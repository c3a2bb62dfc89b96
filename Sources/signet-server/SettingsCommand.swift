import SignetDataDirectory
import SignetServer
import SignetTerminal

/// `signet-server settings`: prints the schema of `server.json`.
enum SettingsCommand {
  static let command = Command(
    "settings", "Print the JSON Schema of server.json",
    description: """
      JSON Schema (draft 2020-12) of the settings of a server, for editors and other programs; signet-server.json(5) has the same for \
      people. A server accepts nothing that the schema refuses. It refuses more: files with wrong names, a profile that no \
      device could meet, settings that do not go together.
      """,
    examples: [.init("signet-server settings >server.schema.json", "Keep the schema for an editor")]
  ) { arguments in
    arguments.output.print(ServerConfigurationFile.jsonSchema)
    return .success
  }
}
