import SignetJSON
import SignetQR
import SignetServer
import SignetTerminal
import SignetWire

/// The commands of `signet-server transaction` for what is scanned, typed back, or begun on a device.
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
      "offer", "Ask whoever scans it: the one who decides becomes the user",
      description: """
        It is asked as 'transaction create' asks a user. On a terminal the link is shown as a QR code; signet approve LINK takes it \
        as a text.
        """,
      options: TransactionCommands.order + pictures, arguments: [TransactionCommands.text]
    ) { arguments in
      var body = try TransactionCommands.order(arguments)
      body["anybody"] = true
      let client = try OperatorClient(arguments, for: API.createTransaction)
      var picture = try NewFile.named(by: "png", arguments)
      let answer = try await client.send(API.createTransaction, body: body)
      let link = try answer.string("link")
      try show(link, answer, arguments) {
        [
          ("Transaction", try answer.string("id")), ("Link", link),
          ("Expires", utc(try answer.integer("expires"))),
        ] + (try TransactionCommands.number(in: answer))
      }
      try picture?.write(QRCode(link).png(), or: "withdraw the transaction and ask again")
      return .success
    },
    Command(
      "offline", "Print a pending transaction as a text, to carry it to a device without a network",
      description: """
        The device shows it with signet approve --offline FILE, and then 8 digits, which 'transaction answer' takes.
        """,
      options: pictures, arguments: [identifier]
    ) { arguments in
      let client = try OperatorClient(arguments, for: API.carryTransaction)
      var picture = try NewFile.named(by: "png", arguments)
      let answer = try await client.send(API.carryTransaction, at: [.id: arguments.string("id")])
      let text = try answer.string("text")
      if !arguments.isSet("json") { arguments.output.print("\(copied: text)") }
      try show(text, answer, arguments) { [] }
      try picture?.write(QRCode(text).png(), or: "make room, and print it again")
      return .success
    },
    Command(
      "typed", "Print the digits by which a user approves on a device without a network and a camera",
      description: """
        For a transaction that was made with --typed. The user types them with signet approve --typed, and the values of the fields \
        that were wanted with --typed-field, which --json names; 'transaction answer --typed' takes the digits that the device shows \
        then. Do not show the values beside the digits: who copies them confirms what stands there, and not what is meant.
        """,
      arguments: [identifier]
    ) { arguments in
      let answer = try await OperatorClient.send(
        API.typeTransaction, arguments, at: [.id: arguments.string("id")])
      if arguments.isSet("json") {
        arguments.output.print(answer)
      } else {
        arguments.output.print("\(try answer.string("challenge"))")
      }
      return .success
    },
    Command(
      "answer", "Take the digits that a device without a network shows",
      description: "The exit status is 0 where they are right; the transaction is accepted then.",
      options: [
        .flag("typed", "They answer digits that the user typed into the device, not a text that it scanned"),
        .value(
          "client", "For whom: the IP address of the end user, who waits after wrong ones", named: "address"),
      ],
      arguments: [identifier, Argument("digits", "What the user typed")]
    ) { arguments in
      var body = JSONObject()
      body[arguments.isSet("typed") ? "typed" : "answer"] = .string(arguments.string("digits"))
      if let client = arguments.optionalString("client") { body["client"] = .string(client) }
      let client = try OperatorClient(arguments, for: API.answerTransaction)
      let id = arguments.string("id")
      let answer: JSONObject
      do { answer = try await client.send(API.answerTransaction, at: [.id: id], body: body) } catch let
        failure
        as CommandFailure
        where failure.description.hasPrefix(Problem.Code.transactionWrongAnswer.title)
        && !arguments.isSet("typed")
      {
        guard try await client.send(API.showTransaction, at: [.id: id]).contains("typed") else {
          throw failure
        }
        throw CommandFailure(
          failure.exitCode,
          "\(failure.message) Where the user typed digits into the device, and scanned nothing, add --typed."
        )
      }
      if arguments.isSet("json") {
        arguments.output.print(answer)
      } else {
        arguments.output.print("\(try answer.string("status"))")
      }
      return .success
    },
    Command(
      "initiated", "List what a user has signed at their own wish, oldest first",
      options: [.value("after", "Only what came after this one", named: "id")],
      arguments: [UserCommands.user]
    ) { arguments in
      var query = [("initiated", "device"), ("user", arguments.string("user"))]
      if let after = arguments.optionalString("after") { query.append(("after", after)) }
      let answer = try await OperatorClient.send(API.listInitiated, arguments, query: query)
      guard !arguments.isSet("json") else {
        arguments.output.print(answer)
        return .success
      }
      var table = TextTable(["TRANSACTION", "SIGNED", "CONTENT"])
      for transaction in try objects("transactions", in: answer) {
        table.append([
          try transaction.string("id"), utc(try transaction.integer("created")),
          try transaction.string("content"),
        ])
      }
      arguments.output.print(table)
      return .success
    },
  ]

  private static func show(
    _ text: String, _ answer: JSONObject, _ arguments: Arguments, _ fields: () throws -> [(String, String)]
  ) throws {
    if arguments.isSet("json") { arguments.output.print(answer) }
    let wantsPicture = arguments.isSet("show-qr") || arguments.output.isTerminal
    if !arguments.isSet("json") {
      if wantsPicture { ActivationCommands.show(try QRCode(text), arguments) }
      let fields = try fields()
      if !fields.isEmpty { arguments.output.print(fields: fields, copying: ["Link"]) }
    }
  }
}
