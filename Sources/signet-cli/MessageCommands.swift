import Signet
import SignetJSON
import SignetTerminal

extension Command {
  /// What a service is called that carries pushes to this device, and the platform that servers know it by.
  static let pushTarget: [Option] = [
    .value(
      "push-token",
      "Where pushes for this device go: the token of a push service, or what your gateway calls it",
      named: "token"),
    .value(
      "push-service", "The service of the token: apns (which is the default), gcm or webhook", named: "name"),
  ]

  static let message = Command(
    "message", "Receive and answer push messages of servers that authenticator apps enrol at",
    description: """
      Enrol with signet import or signet scan and a URI that begins with pushauth:// or mfauth://. What a push service or a \
      gateway delivers goes to signet message receive.
      """,
    commands: [
      Command(
        "receive", "Take what was delivered: its signature is checked before anything is kept",
        arguments: [
          Argument("file", "The push as JSON, or its token; - for standard input", completion: .file)
        ],
        examples: [.init("signet message receive push.json", "Keep a message that a gateway wrote to a file")]
      ) { arguments in
        let bytes = try InputFile.bytes(
          of: arguments.string("file"), limit: PushAuthDelivery.maximumByteCount)
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw CommandFailure(.dataError, "the message is not UTF-8")
        }
        let delivery: PushAuthDelivery
        do throws(PushAuthFailure) { delivery = try PushAuthDelivery(text) } catch {
          throw SignetFailure.pushAuth(error)
        }
        let (device, password) = try await opened(arguments)
        let reception = try await device.accounts.receive(delivery, by: password)
        switch reception {
        case .new(let notification): arguments.report(notification.shown, notification.json)
        case .known(let notification):
          arguments.report("Received before. \(notification.shown)", notification.json)
        case .forgotten: arguments.report("Received before, and deleted since.", ["forgotten": true])
        }
        return .success
      },
      Command(
        "list", "List messages, the newest first", options: [.flag("pending", "Only those that wait")]
      ) { arguments in
        let (device, password) = try await opened(arguments)
        let messages = try await device.accounts.messages(
          pendingOnly: arguments.isSet("pending"), by: password)
        if arguments.isSet("json") {
          let list = JSONValue.array(messages.map { .object($0.notification.json) })
          arguments.output.print(JSONValue.object(["messages": list]).text)
          return .success
        }
        if messages.isEmpty { arguments.errorOutput.print("No message was received.") }
        for (mechanism, notification) in messages {
          let account = TerminalText.sanitised("\(mechanism.issuer) \(mechanism.name)", limit: 200)
          arguments.output.print("\(account): \(notification.shown)")
        }
        return .success
      },
      Command(
        "approve", "Say yes; where the server demands it, after a finger or the passcode",
        options: [.value("number", "The number that the sign-in shows", named: "digits")],
        arguments: [identifierOfMessage]
      ) { arguments in
        let decision = arguments.optionalString("number").map { PushDecision.number($0) } ?? .approve
        return try await answer(decision, arguments)
      },
      Command("deny", "Say no", arguments: [identifierOfMessage]) { arguments in
        try await answer(.deny, arguments)
      },
      Command("delete", "Forget a message", arguments: [identifierOfMessage]) { arguments in
        let (device, password) = try await opened(arguments)
        try await device.accounts.removeMessage(arguments.string("id"), by: password)
        arguments.report("Deleted.", ["deleted": .string(arguments.string("id"))])
        return .success
      },
      Command(
        "token", "Say where pushes for this device go, and tell all servers",
        description: "Servers that cannot be reached are told again the next time.",
        options: pushTarget
      ) { arguments in
        let (device, password) = try await opened(arguments)
        let failed: [(mechanism: PushMechanism, failure: SignetFailure)]
        if let target = try target(arguments) {
          failed = try await device.accounts.setPushDevice(target, by: password)
        } else {
          failed = try await device.accounts.sendPushTokens(by: password)
        }
        for (mechanism, failure) in failed {
          let account = TerminalText.sanitised("\(mechanism.issuer) \(mechanism.name)", limit: 200)
          arguments.errorOutput.print("\(account): \(failure)")
        }
        arguments.report(
          failed.isEmpty ? "All servers know it." : "\(failed.count) servers do not know it yet.",
          ["failed": .integer(Int64(failed.count))])
        return failed.isEmpty ? .success : .unavailable
      },
    ])

  private static let identifierOfMessage = Argument("id", "The message id, as signet message list shows it")

  private static func opened(_ arguments: Arguments) async throws -> (Device, SharedSecretBox?) {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: true)
    return (device, try await options.accountsPassword(on: device))
  }

  private static func answer(_ decision: PushDecision, _ arguments: Arguments) async throws -> ExitCode {
    let (device, password) = try await opened(arguments)
    let conversation = TerminalConversation(output: arguments.errorOutput)
    let id = arguments.string("id")
    try await device.accounts.answer(id, decision, passcode: conversation, by: password)
    arguments.report(
      decision == .deny ? "Denied." : "Approved.",
      ["id": .string(id), "decision": decision == .deny ? "denied" : "approved"])
    return .success
  }

  /// Where pushes go, as the options say; `nil` where they say nothing.
  static func target(_ arguments: Arguments) throws -> PushAuthDevice? {
    guard let token = arguments.optionalString("push-token") else { return nil }
    let service = arguments.optionalString("push-service") ?? "apns"
    do throws(PushAuthFailure) {
      return try PushAuthDevice(
        token: token, name: "signet", platform: service == "gcm" ? "android" : "ios", service: service)
    } catch { throw SignetFailure.pushAuth(error) }
  }

  /// Enrols what a URI with push messages says.
  static func enrol(_ text: String, _ arguments: Arguments) async throws -> ExitCode {
    let uri = try AuthenticatorURI(text)
    let (device, password) = try await opened(arguments)
    let enrolment = try await device.accounts.enrol(
      uri, from: target(arguments), exportable: !arguments.isSet("not-exportable"), by: password)
    let account = enrolment.account
    let name = TerminalText.sanitised("\(account.issuer) (\(account.name))", limit: 200)
    for policy in enrolment.policyConflicts {
      arguments.errorOutput.print(
        "The policy \(TerminalText.sanitised(policy, limit: 80)) differs; the one that is there stays.")
    }
    arguments.report(
      "Enrolled \(name): push messages\(account.codes.isEmpty ? "" : " and one-time codes").",
      [
        "id": .string(account.id.description), "issuer": .string(account.issuer),
        "name": .string(account.name), "codes": .integer(Int64(account.codes.count)),
        "push": .bool(account.push != nil), "policies": .array(account.policyNames.map { .string($0) }),
      ])
    return .success
  }

  /// Whether a text is a URI that ``enrol(_:_:)`` takes.
  static func isEnrolment(_ text: String) -> Bool {
    let start = text.prefix(16).lowercased()
    return start.hasPrefix("pushauth://") || start.hasPrefix("mfauth://")
  }
}

extension PushAuthNotification {
  /// A line for a terminal.
  fileprivate var shown: String {
    let text = TerminalText.sanitised(message.text ?? "A sign-in asks for approval.", limit: 500)
    let id = TerminalText.sanitised(id, limit: 200)
    let how =
      switch message.kind {
      case .default: "approve or deny"
      case .challenge:
        "approve with --number, one of \(message.numbers.map(String.init).joined(separator: ", "))"
      case .biometric: "approve with a finger or the passcode"
      }
    return "\(id): \(text) [\(decision?.rawValue ?? how)]"
  }

  /// What `--json` prints.
  fileprivate var json: JSONObject {
    var json: JSONObject = [
      "id": .string(id), "kind": .string(message.kind.rawValue), "received": .integer(received / 1000),
      "expires": .integer(expires / 1000),
    ]
    if message.kind == .challenge { json["numbers"] = .array(message.numbers.map { .integer($0) }) }
    for (name, value) in [
      ("text", message.text), ("context", message.context), ("customPayload", message.customPayload),
      ("decision", decision?.rawValue),
    ] { json[name] = value.map { .string($0) } }
    return json
  }
}
