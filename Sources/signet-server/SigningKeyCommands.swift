import SignetServer
import SignetTerminal

/// `signet-server signing-key …`.
enum SigningKeyCommands {
  static let group = Command(
    "signing-key", "Manage the keys that the server itself signs with",
    description: """
      They sign what devices are sent and what is verified offline. The first is made by itself. Devices learn the present one when \
      they are activated or renewed, and follow the word of one key to the next. They are published at /v1/jwks.
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
              signet-server: the row of the key that signs was altered or removed, so nothing is signed: find out who can write the \
              database, and restore a backup that has the key, or make another: signet-server signing-key rotate
              """)
          }
        }
      },
      Command(
        "rotate", "Make another key, which signs from now on",
        description: """
          Devices take it on the word of the one before. Where that one is in wrong hands, so is its word: have the devices renewed \
          then (container renew), which does not rely on it. If 'list' shows the present key as altered, or every key as retired, \
          somebody else has written the database: nothing is signed until you rotate, and users have to renew their devices \
          ('signet renew'); the command says so.
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
