import SignetJSON
import SignetServer
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `signet-server uaf credentials`, `targets`, `metadata` and so on: what a running server has registered and knows.
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
      let answer = try await OperatorClient.send(API.listUAFCredentials, arguments, query: texts(arguments))
      guard !arguments.isSet("json") else {
        arguments.output.print(answer)
        return .success
      }
      var table = TextTable(["AAID", "KEY", "USER", "STATE", "KEYS", "COUNTER", "CREATED"])
      for credential in try objects("credentials", in: answer) {
        table.append([
          try credential.string("aaid"), try credential.string("keyId"), try credential.string("user"),
          try credential.string("state"), try keys(of: credential),
          String(try credential.integer("signCounter")),
          utc(try credential.integer("created")),
        ])
      }
      arguments.output.print(table)
      return .success
    },
    Command(
      "remove-credential", "Remove a key",
      description:
        "The user registers again. The authenticator learns of it when it is used next (status 1481).",
      options: OperatorOptions.connection, arguments: key
    ) { arguments in
      let answer = try await OperatorClient.send(
        API.removeUAFCredential, arguments,
        at: [.aaid: arguments.string("aaid"), .key: arguments.string("key")])
      return try show(answer, "removed", arguments)
    },
    Command(
      "release-credential", "Take a key out of quarantine",
      description: """
        A key is in quarantine since a response came whose counter had not grown: there are two of its authenticator. Release it \
        only where you know which is the user's, and that the other is gone; else remove it.
        """, options: OperatorOptions.connection, arguments: key
    ) { arguments in
      let answer = try await OperatorClient.send(
        API.releaseUAFCredential, arguments,
        at: [.aaid: arguments.string("aaid"), .key: arguments.string("key")])
      return try show(answer, "released", arguments)
    },
  ]

  /// Where a key lies, and how well that is known.
  private static func keys(of credential: JSONObject) throws -> String {
    switch KeyAssurance(rawValue: try credential.string("keyProtection")) {
    case .hardwareAttested: "hardware (attested)"
    case .hardwareClaimed: "hardware (claimed)"
    case .software, nil: "software"
    }
  }

  private static func show(
    _ answer: JSONObject, _ done: String, _ arguments: Arguments
  ) throws -> ExitCode {
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      let (aaid, key) = (try answer.string("aaid"), try answer.string("keyId"))
      arguments.output.print("\(ours: done) \(aaid) \(key)")
    }
    return .success
  }

  // MARK: Devices

  private static let targets = [
    Command(
      "targets", "List the devices that tokens are sent to, oldest first",
      description: "Without --user at most 1,000 are listed.",
      options: OperatorOptions.connection + [user]
    ) { arguments in
      let answer = try await OperatorClient.send(API.listUAFTargets, arguments, query: texts(arguments))
      guard !arguments.isSet("json") else {
        arguments.output.print(answer)
        return .success
      }
      var table = TextTable(["TARGET", "USER", "NAME", "DISPATCHER", "ENCRYPTED", "CREATED"])
      for target in try objects("targets", in: answer) {
        guard case .bool(let isEncrypted)? = target["isEncrypted"] else { continue }
        table.append([
          try target.string("id"), try target.string("user"), try target.string("name"),
          try target.optionalString("dispatcher") ?? "-", isEncrypted ? "yes" : "no",
          utc(try target.integer("created")),
        ])
      }
      arguments.output.print(table)
      return .success
    },
    Command(
      "remove-target", "Remove a device that tokens are sent to",
      description: "Nothing is sent to it any more.", options: OperatorOptions.connection,
      arguments: [Argument("id", "The target's id")]
    ) { arguments in
      let answer = try await OperatorClient.send(
        API.removeUAFTarget, arguments, at: [.id: arguments.string("id")])
      if arguments.isSet("json") {
        arguments.output.print(answer)
      } else {
        arguments.output.print("removed \(try answer.string("id"))")
      }
      return .success
    },
  ]

  // MARK: Models

  private static let metadata = Command(
    "metadata", "List the models of authenticators that the server knows, by AAID",
    description:
      "All other models are refused. After a change in the folder of metadata send SIGHUP to the server.",
    options: OperatorOptions.connection
  ) { arguments in
    let answer = try await OperatorClient.send(API.listUAFModels, arguments)
    guard !arguments.isSet("json") else {
      arguments.output.print(answer)
      return .success
    }
    var table = TextTable(["AAID", "VERSION", "ALGORITHM", "ROOTS", "DESCRIPTION"])
    for model in try objects("models", in: answer) {
      table.append([
        try model.string("aaid"), String(try model.integer("authenticatorVersion")),
        try model.string("algorithm"), String(try model.integer("roots")), try model.string("description"),
      ])
    }
    arguments.output.print(table)
    return .success
  }

  private static func texts(_ arguments: Arguments) -> [(String, String)] {
    arguments.optionalString("user").map { [("user", $0)] } ?? []
  }
}
