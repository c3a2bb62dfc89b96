import SignetJSON
import SignetServer
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `signet-server transaction …`: what a relying party does.
enum TransactionCommands {
  static let group = Command(
    "transaction", "Ask users to decide, as a relying party", options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Ask a user to accept or deny something",
        description: """
          The user is asked the text, or with --form typed fields: a JSON object {"template":…,"fields":[…]}, as the protocol's \
          section 5 has it. What is shown and signed is printed with --json, as content: compare it with the signed one, byte for \
          byte.
          """,
        options: order + [
          .flag("typed", "Let the user approve on a device that sees nothing of it, by typing digits"),
          .value(
            "typed-field", "With --typed, have the user type the value of this field too; the first is 0",
            named: "n", isRepeatable: true),
        ],
        arguments: [UserCommands.user, text],
        examples: [
          .init(
            "signet-server transaction create alice 'Pay 250.00 EUR to Jane Doe' --data ./demo --key-file shop.key",
            "Ask alice for a payment")
        ], synonyms: ["add", "new"], handler: create),
      Command(
        "show", "Show a transaction and how it ended",
        description: """
          With --wait it shows the transaction once it is decided, or the time is over, and the exit status \
          says how: 0 accepted, 1 anything else that is final, 75 still pending.
          """,
        options: [.value("wait", "Wait so long for the decision: 0s to 24h", named: "duration")],
        arguments: [identifier], handler: show),
      Command(
        "withdraw", "Put an end to a transaction before it is decided",
        options: [.value("reason", "Why: up to 1000 characters", named: "text")],
        arguments: [identifier], synonyms: ["cancel", "delete", "revoke"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.withdrawTransaction, arguments, at: [.id: arguments.string("id")],
          query: arguments.optionalString("reason").map { [("reason", $0)] } ?? [])
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("withdrawn \(try answer.string("id"))")
        }
        return .success
      },
      Command(
        "list", "List transactions, those that were made last first; with the operator's key",
        description: "Those of all who ask. How one ended, and what was signed, says 'transaction show'.",
        options: [
          .value("user", "Those of this user only", named: "user"),
          .value(
            "status", "Those that stand here only",
            completion: .choices([
              "pending", "accepted", "denied", "reported", "cancelled", "withdrawn", "expired",
            ])),
          .value("limit", "At most so many", named: "n", default: "100"),
        ], handler: list),
      VerifyCommand.command,
    ] + CarriedTransactionCommands.all)

  private static let identifier = Argument("id", "The transaction's id")

  // MARK: What is asked

  /// The options that say what is asked, whoever it is.
  static let order: [Option] = [
    .value("lifetime", "How long it may be decided: 1s to 24h", named: "duration", default: "5m"),
    .value("form", "Ask typed fields: JSON, in this file", named: "file", completion: .file),
    .value("place", "Say where the user is seen: the place", named: "text"),
    .value("browser", "Say where the user is seen: the browser or app", named: "text"),
    .value("address", "Say where the user is seen: the network address", named: "text"),
    .value(
      "status", "What the user may decide; denied is always there", isRepeatable: true,
      completion: .choices(["accepted", "denied", "reported"])),
    .value("number", "Show a number of so many digits, 2 to 6, which the user has to type", named: "n"),
    .value(
      "requirement",
      "What an approval has to show: one name, such as urn:signet:acr:answered, or one of server.json; signed content if not set",
      named: "name"),
  ]
  static let text = Argument("text", "What is asked, where --form is not given", arity: .optional)

  /// The body of the request that asks, but for whom.
  ///
  /// - Throws: `UsageFailure`, and `CommandFailure` for a form that cannot be read.
  static func order(_ arguments: Arguments) throws -> JSONObject {
    let lifetimes = Int(TransactionDraft.lifetimes.lowerBound)...Int(TransactionDraft.lifetimes.upperBound)
    var body: JSONObject = ["lifetime": .integer(Int64(try arguments.seconds("lifetime", in: lifetimes)))]
    switch (arguments.optionalString("text"), arguments.optionalString("form")) {
    case (let text?, nil): body["text"] = .string(text)
    case (nil, let path?): body["form"] = .object(try jsonObject(at: path, option: "form"))
    default: throw UsageFailure.refused("say what the user is asked: a text, or --form, and not both")
    }
    var context = JSONObject()
    for name in ["place", "browser", "address"] {
      if let text = arguments.optionalString(name) { context[name] = .string(text) }
    }
    if !context.isEmpty { body["context"] = .object(context) }
    let statuses = arguments.strings("status")
    if !statuses.isEmpty { body["statuses"] = .array(statuses.map { .string($0) }) }
    if let digits = try arguments.optionalInteger("number", in: 2...6) {
      body["number"] = ["digits": .integer(Int64(digits))]
    }
    body["requirement"] = arguments.optionalString("requirement").map { .string($0) }
    return body
  }

  /// What there is to show of a number, which cannot be had again.
  static func number(in answer: JSONObject) throws -> [(String, String)] {
    try answer.optionalString("number").map { [("Number", $0)] } ?? []
  }

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    var body = try order(arguments)
    body["user"] = .string(arguments.string("user"))
    if let fields = try typedFields(arguments) { body["typed"] = .array(fields.map { .integer($0) }) }
    let answer = try await OperatorClient.send(API.createTransaction, arguments, body: body)
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      arguments.output.print(
        fields: [
          ("Transaction", try answer.string("id")), ("Status", try answer.string("status")),
          ("Expires", utc(try answer.integer("expires"))),
        ] + (try number(in: answer)))
    }
    return .success
  }

  private static func typedFields(_ arguments: Arguments) throws -> [Int64]? {
    let fields = arguments.strings("typed-field")
    guard arguments.isSet("typed") else {
      guard fields.isEmpty else { throw UsageFailure.refused("--typed-field goes with --typed") }
      return nil
    }
    return try fields.map { text in
      guard let field = Int64(text), field >= 0 else {
        throw UsageFailure.refused("--typed-field is the position of a field; the first is 0")
      }
      return field
    }
  }

  private static func show(_ arguments: Arguments) async throws -> ExitCode {
    let wait = arguments.isSet("wait") ? try arguments.seconds("wait", in: 0...86_400) : nil
    let answer = try await OperatorClient.decided(
      API.showTransaction, arguments, at: [.id: arguments.string("id")], within: wait ?? 0)
    if arguments.isSet("json") { arguments.output.print(answer) } else { try print(answer, arguments.output) }
    guard wait != nil else { return .success }
    return switch try answer.string("status") {
    case "accepted": .success
    case "pending": .temporaryFailure
    default: .failure
    }
  }

  private static func list(_ arguments: Arguments) async throws -> ExitCode {
    let limit = try arguments.integer("limit", in: 1...1_000_000)
    let client = try OperatorClient(arguments, for: API.listTransactions)
    var found: [JSONObject] = []
    while found.count < limit {
      let count = min(100, limit - found.count)
      var query: [(String, String)] = [("limit", String(count))]
      for name in ["user", "status"] {
        if let value = arguments.optionalString(name) { query.append((name, value)) }
      }
      if let last = found.last { query.append(("before", try last.string("id"))) }
      let page = try objects("transactions", in: try await client.send(API.listTransactions, query: query))
      found += page
      if page.count < count { break }
    }
    guard !arguments.isSet("json") else {
      arguments.output.print(["transactions": .array(found.map { .object($0) })])
      return .success
    }
    var table = TextTable([
      "TRANSACTION", "STATUS", .init("USER", limit: 40), "CREATED", .init("CONTENT", limit: 80),
    ])
    for transaction in found {
      table.append([
        try transaction.string("id"), try transaction.string("status"),
        try transaction.optionalString("user") ?? "-",
        utc(try transaction.integer("created")),
        try transaction.string("content"),
      ])
    }
    arguments.output.print(table)
    return .success
  }

  private static func print(_ answer: JSONObject, _ output: Terminal) throws {
    var fields = [
      ("Transaction", try answer.string("id")), ("User", try answer.optionalString("user") ?? "-"),
      ("Content", try answer.string("content")), ("Status", try answer.string("status")),
      ("Created", utc(try answer.integer("created"))), ("Expires", utc(try answer.integer("expires"))),
    ]
    if answer.contains("requirements") {
      fields.append(("Requires", try answer.strings("requirements").joined(separator: " or ")))
    }
    if let decision = try answer.optionalObject("decision") {
      fields += [
        ("Decided", utc(try decision.integer("time"))), ("Container", try decision.string("container")),
      ]
    }
    if let uaf = try answer.optionalObject("uaf") {
      fields += [("Decided", utc(try uaf.integer("time"))), ("UAF operation", try uaf.string("session"))]
    }
    if let app = try answer.optionalObject("app") {
      fields += [("Decided", utc(try app.integer("time"))), ("App", try app.string("mechanism"))]
    }
    if let end = try answer.optionalObject("end") {
      fields += [("Ended", utc(try end.integer("time"))), ("Reason", reason(try end.string("reason")))]
      if let message = try end.optionalString("message") { fields.append(("Message", message)) }
    }
    output.print(fields: fields)
  }

  /// A sentence for what the server ends by itself; what a relying party or a user has said stays as it is.
  private static func reason(_ word: String) -> String {
    switch word {
    case "userNotActive": "the user is suspended or deleted"
    case "noAuthenticator": "nothing of the user's can answer it any more"
    default: word
    }
  }
}
