import SignetJSON
import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server message …`: a relying party's requests to authenticator apps.
enum MessageCommands {
  static let group = Command(
    "message", "Ask users of authenticator apps by push, as a relying party",
    description: """
      For users whose app was enrolled with 'app invite'. An answer says yes or no, and is not a signature \
      that others can verify; devices of Signet sign what 'transaction create' asks.
      """,
    options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Ask a user to approve or deny something",
        description: """
          The push service of the app carries the message, if this server has it in "push" of server.json; \
          an app that enrolled with 'signet import --push-service live' asks for it. With --json the message \
          is printed as the app gets it, as push, which 'signet message receive' accepts too.

          With --kind challenge the user has one attempt: a wrong number denies the message.
          """,
        options: [
          .value(
            "kind",
            "default: yes or no; challenge: the user picks the number that is printed here; biometric: the app must recognise its user",
            default: "default", completion: .choices(["default", "challenge", "biometric"])),
          .value("lifetime", "How long it can be answered: 10s to 1h", named: "duration", default: "2m"),
          .value("app", "Ask this app, if the user has several", named: "id"),
          .value(
            "context",
            "Data about the sign-in, such as its place, that the app may show: a JSON object in the form that the app reads",
            named: "json"),
          .value("payload", "Further data for the app", named: "text"),
        ],
        arguments: [UserCommands.user, Argument("text", "What is asked")],
        examples: [
          .init(
            "signet-server message create alice 'Sign in to the shop' --kind challenge --data ./demo --key-file shop.key",
            "Have alice pick a number in her app")
        ], handler: create),
      Command(
        "show", "Show a message and how it was answered",
        description: """
          If nobody has answered it, its status is that of its transaction, such as withdrawn or expired. \
          With --wait it shows the message once its transaction has ended, or the waiting time has passed, \
          and the exit status says how: 0 approved, 75 still pending, 1 anything else.
          """,
        options: [.value("wait", "How long to wait for the answer: 0s to 1h", named: "duration")],
        arguments: [Argument("id", "The message's id")], handler: show),
    ])

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    let message = try NewPushMessage(
      user: arguments.value("user"), mechanism: arguments.optionalValue("app"),
      kind: arguments.value("kind"), text: arguments.string("text"),
      customPayload: arguments.optionalString("payload"), context: arguments.optionalString("context"),
      lifetime: Int64(arguments.seconds("lifetime", in: 10...3600)))
    let client = try OperatorClient(arguments, for: API.sendPushMessage)
    let answer = try await client.send(
      API.sendPushMessage, message, sayingFor: ["mechanism": "--app", "context": "--context"])
    return arguments.show(answer) { created in
      var fields = [
        ("Message", created.id.text), ("Transaction", created.transaction.text),
        ("Status", created.status.rawValue),
        ("Expires", utc(created.expires)), ("Delivery", text(of: created.delivery)),
      ]
      if let number = created.number { fields.append(("Number", String(number))) }
      arguments.output.print(fields: fields)
    }
  }

  /// Returns the delivery result of the message, for users.
  private static func text(of delivery: SentPushAuthMessage.Delivery) -> String {
    switch delivery {
    case .accepted: "accepted by the push service"
    case .gone: "the push service does not know the app any more; have it enrol again"
    case .failed: "the push service could not be reached, or refused; the server's log has the cause"
    case .live: "none by push: the app asks for it (signet listen)"
    case .none:
      "not sent: no service in \"push\" of server.json reaches this app ('app list' shows what it is pushed by); set one up, or hand the app what --json prints as push"
    }
  }

  private static func show(_ arguments: Arguments) async throws -> ExitCode {
    let wait = arguments.isSet("wait") ? try arguments.seconds("wait", in: 0...3600) : nil
    let (pending, approved) = (PushAuthMessageRecord.State.pending, PushAuthMessageRecord.State.approved)
    let answer = try await OperatorClient(arguments, for: API.showPushMessage).decided(
      API.showPushMessage, within: wait ?? 0
    ) { $0.status == pending.rawValue }
    arguments.show(answer) { message in
      var fields = [
        ("Message", message.id.text), ("Transaction", message.transaction.text), ("Kind", message.kind),
        ("Status", message.status), ("Created", utc(message.created)), ("Expires", utc(message.expires)),
      ]
      if let answered = message.answered { fields.append(("Answered", utc(answered))) }
      arguments.output.print(fields: fields)
    }
    guard wait != nil else { return .success }
    return switch answer.message.status {
    // Accepted by the message, or by another authenticator of the user.
    case approved.rawValue, TransactionRecord.State.accepted.rawValue: .success
    case pending.rawValue: .temporaryFailure
    default: .failure
    }
  }
}
