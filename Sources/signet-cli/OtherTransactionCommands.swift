import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let initiate = Command(
    "initiate", "Sign a text unasked and leave it for the relying party",
    description: """
      The text is written by the user, shown, and signed like an approval. It waits at the server until the relying \
      party fetches it.
      """,
    options: [
      ContainerChoice.option,
      .flag("yes", "Do not ask for confirmation if no password is needed", short: "y"),
    ],
    arguments: [Argument("text", "What to sign: up to about 4000 characters")]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    try await options.catchUp(with: device, prompting: true)
    let container = try await ContainerChoice.container(arguments, of: device)
    let content = try TransactionContent(.text(arguments.string("text")), from: .device)
    let signed: TransactionID?
    signed = try await options.withPassword(for: container, key: .sessionTransport) { session in
      arguments.announce("sign", content, by: container)
      guard try await arguments.confirmsUse("Sign this", of: .transactionSigning, of: container) else {
        return nil
      }
      return try await container.server.named {
        try await options.authenticated(
          container, key: .transactionSigning, on: device, to: "Sign a text"
        ) {
          try await device.initiate(content.body, with: container, by: $0, session: session)
        }
      }
    }
    guard let id = signed else {
      arguments.errorOutput.print("Nothing was signed.")
      return .failure
    }
    if arguments.isSet("json") {
      let object: JSONObject = ["id": .string(id.text), "status": "accepted"]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      arguments.output.print("Signed \(id.text).")
    }
    return .success
  }

  /// Shows an offline transaction and its approval code; uses no network.
  static func approveOffline(_ path: String, _ arguments: Arguments) async throws -> ExitCode {
    for name in ["qr", "number", "container", "typed", "value"] where arguments.isSet(name) {
      throw UsageFailure.refused(
        "--offline and --\(name) exclude each other: the file names the transaction")
    }
    guard arguments.optionalString("id") == nil else {
      throw UsageFailure.refused(
        "--offline excludes an id: the file names the transaction")
    }
    let options = try DeviceOptions(arguments)
    let text = try ScannedKind.expect(.carriedTransaction, ScannedText.read(path))
    let device = try options.device(createIfMissing: false)
    let (transaction, container) = try await device.offlineTransaction(scanned: text)
    arguments.announce(
      "approve, without a network", transaction.content, by: container,
      (transaction.id, transaction.expires))
    guard try await arguments.confirmsUse("Approve this", of: .oneTimePassword, of: container) else {
      arguments.errorOutput.print("Nothing was approved.")
      return .failure
    }
    let answer = try await options.authenticated(
      container, key: .oneTimePassword, on: device, to: "Approve a transaction"
    ) {
      try await device.offlineAnswer(to: transaction, with: container, by: $0)
    }
    if arguments.isSet("json") {
      let object: JSONObject = ["id": .string(transaction.id.text), "answer": .string(answer)]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      arguments.errorOutput.print("Type these digits where the transaction was shown:")
      arguments.output.print("\(ours: answer)")
    }
    return .success
  }
}
