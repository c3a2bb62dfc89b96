import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server uaf credentials`, `targets`, `metadata` and so on: the registry of a running server.
enum UAFRegistryCommands {
  private static let user = Option.value("user", "Only those of this user", named: "id")

  private static let key = [
    Argument("aaid", "The authenticator's model, such as 7357#0001"),
    Argument("key", "The key's id, base64url, as the list shows it"),
  ]

  // MARK: Keys

  static let commands: [Command] = credentials + targets + [metadata]

  private static let credentials = [
    Command(
      "credentials", "List the keys of authenticators, oldest first",
      description: """
        Without --user at most 1,000 are listed. Hardware is attested where certificates led to the roots in the model's metadata, and \
        claimed where the key itself names the model.
        """,
      options: OperatorOptions.connection + [user]
    ) { arguments in
      try await arguments.ask(API.listUAFCredentials, query(arguments)) {
        arguments.output.print(
          ["AAID", "KEY", "USER", "STATE", "KEYS", "COUNTER", "CREATED"],
          $0.credentials.map {
            [
              $0.aaid, $0.keyId, $0.user, $0.state.rawValue, text(of: $0.keyProtection),
              String($0.signCounter), utc($0.created),
            ]
          })
      }
    },
    Command(
      "remove-credential", "Remove a key",
      description:
        "The user registers again. The device learns of it when it is used next: status 1404, or 1481 where it answers a request that names no user.",
      options: OperatorOptions.connection, arguments: key
    ) { arguments in
      try await arguments.ask(API.removeUAFCredential) {
        arguments.output.print("removed \($0.aaid) \($0.keyId)")
      }
    },
    Command(
      "release-credential", "Take a key out of quarantine",
      description: """
        A key is in quarantine after a response whose counter had not grown: the key may have been copied. \
        Release it only if you know which authenticator is the user's, and that the other is gone; otherwise \
        remove it.
        """, options: OperatorOptions.connection, arguments: key
    ) { arguments in
      try await arguments.ask(API.releaseUAFCredential) {
        arguments.output.print("released \($0.aaid) \($0.keyId)")
      }
    },
  ]

  /// Returns the location of a key, and its proof.
  private static func text(of assurance: KeyAssurance) -> String {
    switch assurance {
    case .hardwareAttested: "hardware (attested)"
    case .hardwareClaimed: "hardware (claimed)"
    case .software: "software"
    }
  }

  // MARK: Devices

  private static let targets = [
    Command(
      "targets", "List the devices that tokens are sent to, oldest first",
      description: "Without --user at most 1,000 are listed.",
      options: OperatorOptions.connection + [user]
    ) { arguments in
      try await arguments.ask(API.listUAFTargets, query(arguments)) {
        arguments.output.print(
          ["TARGET", "USER", "NAME", "DISPATCHER", "ENCRYPTED", "CREATED"],
          $0.targets.map {
            [
              $0.id.text, $0.user, $0.name, $0.dispatcher ?? "-", $0.isEncrypted ? "yes" : "no",
              utc($0.created),
            ]
          })
      }
    },
    Command(
      "remove-target", "Remove a device that tokens are sent to",
      description: "Nothing is sent to it any more.", options: OperatorOptions.connection,
      arguments: [Argument("id", "The target's id")]
    ) { arguments in
      try await arguments.ask(API.removeUAFTarget) { arguments.output.print("removed \($0.id)") }
    },
  ]

  // MARK: Models

  private static let metadata = Command(
    "metadata", "List the models of authenticators that the server knows, by AAID",
    description:
      "All other models are refused. After a change in the folder of metadata send SIGHUP to the server.",
    options: OperatorOptions.connection
  ) { arguments in
    try await arguments.ask(API.listUAFModels) {
      arguments.output.print(
        ["AAID", "VERSION", "ALGORITHM", "ROOTS", "DESCRIPTION"],
        $0.models.map {
          [$0.aaid, String($0.authenticatorVersion), $0.algorithm, String($0.roots), $0.description]
        })
    }
  }

  private static func query(_ arguments: Arguments) throws -> UAFUserQuery {
    try UAFUserQuery(user: arguments.optionalValue("user"))
  }
}
