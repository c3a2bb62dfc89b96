import SignetServer
import SignetTerminal

/// `signet-server signing-key …`.
enum SigningKeyCommands {
  static let group = Command(
    "signing-key", "Manage the keys that the server itself signs with",
    description: """
      They sign messages to devices, and what is verified offline. The server creates the first key by \
      itself. Devices learn the current key when they are activated or renewed, and accept the next key by \
      the signature of the previous one. They are published at /v1/jwks.
      """, options: OperatorOptions.connection,
    commands: [
      Command("list", "List the keys, retired ones included; the last one signs") { arguments in
        try await arguments.ask(API.listSigningKeys) { list in
          arguments.output.print(
            ["KEY", "CREATED", "RETIRED"],
            list.keys.map { [$0.id, utc($0.created), $0.altered ? "altered" : $0.retired.map(utc) ?? "-"] })
          if list.missing {
            arguments.errorOutput.print(
              """
              signet-server: the row of the key that signs was altered or removed, so nothing is signed: \
              find out who can write to the database, and restore a backup that has the key, or create \
              another: signet-server signing-key rotate
              """)
          }
        }
      },
      Command(
        "rotate", "Create another key, which signs from now on",
        description: """
          Devices accept it by the signature of the previous key. If that key is compromised, have the \
          devices renewed (container renew), which does not rely on it. If 'list' shows the current key as \
          altered, or every key as retired, somebody else has written to the database: nothing is signed \
          until you rotate, and users must renew their devices ('signet renew'); the command says so.
          """
      ) { arguments in
        let client = try OperatorClient(arguments, for: API.rotateSigningKey)
        let answer = try await client.send(API.rotateSigningKey)
        arguments.show(answer) { arguments.output.print(fields: [("Key", $0.id)]) }
        if answer.message.succession == nil {
          arguments.errorOutput.print(
            """
            signet-server: the row of the key before was altered or removed, so no device follows to this one by itself; devices \
            that know no other key refuse what the server signs until their users make new keys: signet renew
            """)
        }
        return .success
      },
    ])
}
