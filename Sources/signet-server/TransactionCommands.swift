import Foundation
import SignetJSON
import SignetTerminal

/// `signet-server transaction …`: what a relying party does.
enum TransactionCommands {
  static let group = Command(
    "transaction", "Ask users to decide, as a relying party", options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Ask a user to accept or deny a text",
        options: [
          .value("lifetime", "How long the user may take: 1s to 24h", named: "duration", default: "5m")
        ],
        arguments: [
          UserCommands.user, Argument("text", "What the user is asked: 1 to 4096 characters"),
        ],
        examples: [
          .init(
            "signet-server transaction create alice 'Pay 250.00 EUR to Jane Doe' --data ./demo --key-file shop.key",
            "Ask alice for a payment")
        ], handler: create),
      Command(
        "show", "Show a transaction and its decision",
        description: """
          With --wait it shows the transaction once it is decided, or the time is over, and the exit status \
          says how: 0 accepted, 1 denied or expired, 75 still pending.
          """,
        options: [.value("wait", "Wait so long for the decision, in seconds", named: "seconds")],
        arguments: [Argument("id", "The transaction's id")], handler: show),
    ])

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    let lifetime = try arguments.seconds("lifetime", in: 1...86_400)
    let answer = try await OperatorClient(arguments, as: .relyingParty).post(
      "transactions",
      body: [
        "user": .string(arguments.string("user")), "text": .string(arguments.string("text")),
        "lifetime": .integer(Int64(lifetime)),
      ])
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      arguments.output.print(fields: [
        ("Transaction", try answer.string("id")), ("Status", try answer.string("status")),
        ("Expires", utc(try answer.integer("expires"))),
      ])
    }
    return .success
  }

  private static func show(_ arguments: Arguments) async throws -> ExitCode {
    let wait = try arguments.optionalInteger("wait", in: 0...86_400)
    let client = try OperatorClient(arguments, as: .relyingParty)
    let deadline = ContinuousClock.now + .seconds(wait ?? 0)
    var answer = try await client.get("transactions", arguments.string("id"))
    while try answer.string("status") == "pending", ContinuousClock.now < deadline {
      try await Task.sleep(for: min(.seconds(1), ContinuousClock.now.duration(to: deadline)))
      answer = try await client.get("transactions", arguments.string("id"))
    }
    if arguments.isSet("json") { arguments.output.print(answer) } else { try print(answer, arguments.output) }
    guard wait != nil else { return .success }
    return switch try answer.string("status") {
    case "accepted": .success
    case "pending": .temporaryFailure
    default: .failure
    }
  }

  private static func print(_ answer: JSONObject, _ output: Terminal) throws {
    var fields = [
      ("Transaction", try answer.string("id")), ("User", try answer.string("user")),
      ("Text", try answer.string("text")), ("Status", try answer.string("status")),
      ("Created", utc(try answer.integer("created"))), ("Expires", utc(try answer.integer("expires"))),
    ]
    if let decision = try answer.optionalObject("decision") {
      fields += [
        ("Decided", utc(try decision.integer("time"))), ("Container", try decision.string("container")),
      ]
    }
    output.print(fields: fields)
  }
}
