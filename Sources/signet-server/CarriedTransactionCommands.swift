import SignetImages
import SignetJSON
import SignetProtocol
import SignetServer
import SignetTerminal

/// The commands of `signet-server transaction` for transactions that are scanned, typed back, or initiated on a device.
enum CarriedTransactionCommands {
  private static let pictures: [Option] = [
    .value(
      "png", "Write it as a PNG image to this new file, readable by its owner only", named: "file",
      completion: .file),
    .flag("show-qr", "Print the QR code even where the output is no terminal"),
  ]
  private static let identifier = Argument("id", "The transaction's id")

  static let all: [Command] = [
    Command(
      "offer", "Ask whoever scans the link; the one who decides becomes the user",
      description: """
        The transaction is like one of 'transaction create'. On a terminal the link is shown as a QR code; \
        signet approve LINK accepts it as a text.
        """,
      options: TransactionCommands.order + pictures, arguments: [TransactionCommands.text]
    ) { arguments in
      var order = try TransactionCommands.order(arguments)
      order.anybody = true
      let client = try OperatorClient(arguments, for: API.createTransaction)
      var picture = try NewFile.named(by: "png", arguments)
      let answer = try await client.send(API.createTransaction, order)
      guard let link = answer.message.link else {
        throw OperatorClient.otherVersion(JSONFailure.missingMember("link"))
      }
      // Write it before any output, whose reader may have gone.
      try picture?.write(QRCode(link).png(), or: "withdraw the transaction and ask again")
      return try arguments.show(answer) { created in
        try show(link, arguments)
        arguments.output.print(
          fields: [("Transaction", created.id.text), ("Link", link), ("Expires", utc(created.expires))]
            + TransactionCommands.number(of: created), copying: ["Link"])
      }
    },
    Command(
      "offline", "Print a pending transaction as a text, to carry it to a device without a network",
      description: """
        The device shows it with signet approve --offline FILE, and then 8 digits, which 'transaction \
        answer' accepts.
        """,
      options: pictures, arguments: [identifier]
    ) { arguments in
      let client = try OperatorClient(arguments, for: API.carryTransaction)
      var picture = try NewFile.named(by: "png", arguments)
      let answer = try await client.send(API.carryTransaction)
      try picture?.write(QRCode(answer.message.text).png(), or: "make room, and print it again")
      return try arguments.show(answer) {
        arguments.output.print("\(copied: $0.text)")
        try show($0.text, arguments)
      }
    },
    Command(
      "typed", "Print the digits by which a user approves on a device without a network and a camera",
      description: """
        For a transaction that was created with --typed. The user types the digits with signet approve \
        --typed, and the values of the fields of --typed-field, which --json names; 'transaction answer \
        --typed' accepts the digits that the device then shows. Do not display the values beside the digits: \
        a user who copies them confirms what is displayed, not what is intended.
        """,
      arguments: [identifier]
    ) { arguments in
      try await arguments.ask(API.typeTransaction) { arguments.output.print("\($0.challenge)") }
    },
    Command(
      "answer", "Accept a transaction with the digits that a device without a network shows",
      description: """
        The exit status is 0 if the digits are right; the transaction is then accepted. With --json, status \
        is accepted; otherwise problem is the code of docs/protocol.md section 8, detail says what to do, \
        and status is refused if the digits are wrong.
        """,
      options: [
        .flag(
          "typed",
          "The digits are for values that the user typed into the device, not for a text that it scanned"),
        CodeCommands.client,
      ],
      arguments: [identifier, Argument("digits", "What the user typed")]
    ) { arguments in
      let digits = arguments.string("digits")
      let address = arguments.optionalString("client")
      let client = try OperatorClient(arguments, for: API.answerTransaction)
      do {
        let answer = try await client.send(
          API.answerTransaction,
          arguments.isSet("typed")
            ? CarriedAnswer(typed: digits, client: address) : CarriedAnswer(answer: digits, client: address))
        return arguments.show(answer) { _ in arguments.output.print("accepted") }
      } catch let refusal as ServerRefusal where refusal.shown.exitCode == .failure {
        let failure = try await explained(refusal, client, arguments)
        guard arguments.isSet("json") else { throw failure }
        var object: JSONObject = [
          "id": .string(arguments.string("id")), "problem": .string(refusal.problem.code.rawValue),
          "detail": .string(failure.description),
        ]
        // Other refusals report how the transaction has ended, for example by an earlier answer.
        if refusal.problem.code == .transactionWrongAnswer { object["status"] = "refused" }
        arguments.output.print(object)
        return failure.exitCode
      }
    },
    Command(
      "initiated", "List the texts that a user signed unasked, oldest first",
      options: [.value("after", "Only texts after this transaction", named: "id")],
      arguments: [UserCommands.user]
    ) { arguments in
      try await arguments.ask(
        API.listInitiated,
        InitiatedQuery(user: arguments.value("user"), after: arguments.optionalValue("after"))
      ) {
        arguments.output.print(
          ["TRANSACTION", "SIGNED", "CONTENT"],
          $0.transactions.map { [$0.id.text, utc($0.created), $0.content] })
      }
    },
  ]

  /// Explains why digits were refused, and if they may be of the other kind.
  private static func explained(
    _ refusal: ServerRefusal, _ client: OperatorClient, _ arguments: Arguments
  ) async throws -> CommandFailure {
    guard refusal.problem.code == .transactionWrongAnswer, !arguments.isSet("typed"),
      try await client.send(API.showTransaction).message.typed != nil
    else { return refusal.shown }
    return CommandFailure(
      refusal.shown.exitCode,
      "\(refusal.message) If the user typed digits into the device, and scanned nothing, add --typed.")
  }

  /// Shows a text as a QR code, if requested or if the output is a terminal.
  private static func show(_ text: String, _ arguments: Arguments) throws {
    guard arguments.isSet("show-qr") || arguments.output.isTerminal else { return }
    ActivationCommands.show(try QRCode(text), arguments)
  }
}
