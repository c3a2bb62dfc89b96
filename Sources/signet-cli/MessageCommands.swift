import Signet
import SignetJSON
import SignetTerminal

extension Command {
  /// The options for the push service of this device at an enrolment, and for the platform that servers see.
  static let pushTarget: [Option] = [
    pushToken,
    .value(
      "push-service",
      "The service of the token; live needs no token: signet listen asks the server, which must be a Signet server",
      default: "apns", completion: .choices(pushServices + [PushAuthDevice.live])),
  ]

  private static let pushToken = Option.value(
    "push-token",
    "The push token of this device: that of a push service, or the name of this device at your gateway",
    named: "token")

  /// The services that have tokens.
  private static let pushServices = ["apns", "gcm", "webhook"]

  static let message = Command(
    "message", "Receive and answer push messages of servers that authenticator apps enrol at",
    description: """
      Enrol with signet import or signet scan and a URI that begins with pushauth:// or mfauth://. What a push service or a \
      gateway delivers goes to signet message receive.
      """,
    commands: [
      receiveMessage,
      Command(
        "list", "List messages, the newest first",
        description: """
          The servers of accounts that were enrolled with --push-service live are first asked for waiting messages. A \
          message that was answered elsewhere or withdrawn is listed as ended; so are all messages of an account that \
          its server does not know any more. If a server cannot be asked, the command says so, lists the known \
          messages, and the exit status is not 0.
          """,
        options: [.flag("pending", "Only those that wait")]
      ) { arguments in
        let (messages, failures) = try await withOpened(arguments) { device, password in
          let failures = try await receiveWaiting(on: device, password, arguments)
          let found = try await device.accounts.messages(
            pendingOnly: arguments.isSet("pending"), by: password)
          return (found.map { ListedMessage(of: $0.mechanism, $0.notification) }, failures)
        }
        // Known messages are listed; the exit status still reports that a server could not be asked.
        let status = failures.first.map { exitCode(of: $0.failure) } ?? .success
        if arguments.isSet("json") {
          var object: JSONObject = ["messages": .array(messages.map { .object($0.json) })]
          if !failures.isEmpty { object["notAsked"] = .array(failures.map { .object(json(of: $0)) }) }
          arguments.output.print(json: JSONValue.object(object).text)
          return status
        }
        if messages.isEmpty {
          arguments.errorOutput.print(
            !failures.isEmpty
              ? "No message is known here; not every server could be asked."
              : arguments.isSet("pending") ? "No message waits." : "No message was received.")
        }
        for message in messages { arguments.output.print(message.text(on: arguments.output)) }
        return status
      },
      Command("show", "Show a message", arguments: [messageArgument]) { arguments in
        let message = try await withOpened(arguments) { device, password in
          try await received(arguments.string("id"), on: device, password, arguments)
        }
        arguments.report(message.text(on: arguments.output), message.json)
        return .success
      },
      Command(
        "approve", "Approve a message; if the server requires it, after a finger or the passcode",
        description: """
          Without an id, the one message that waits is approved. Its content is shown first. A number that the message \
          does not offer is not sent. A wrong number denies the message at a Signet server; some servers accept \
          another number, and the message keeps waiting.
          """,
        options: [.value("number", "The number that the sign-in shows", named: "digits")],
        arguments: [optionalMessageArgument]
      ) { arguments in
        guard let number = arguments.optionalString("number") else {
          return try await answer(.approve, arguments)
        }
        guard (1...10).contains(number.utf8.count), number.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
          throw CommandFailure(.usage, "--number has 1 to 10 digits")
        }
        return try await answer(.number(number), arguments)
      },
      Command(
        "deny", "Deny a message", description: "Without an id, the one message that waits is denied.",
        arguments: [optionalMessageArgument]
      ) { arguments in
        try await answer(.deny, arguments)
      },
      Command("delete", "Delete a message", arguments: [messageArgument]) { arguments in
        let id = arguments.string("id")
        try await withOpened(arguments) { device, password in
          do throws(SignetError) { try await device.accounts.removeMessage(id, by: password) } catch {
            throw explained(error)
          }
        }
        arguments.report("Deleted.", ["deleted": .string(id)])
        return .success
      },
      Command(
        "token", "Store the push token of this device, and send it to all servers",
        description: """
          Without --push-token, the stored token is sent to the servers that do not have it yet. A later enrolment uses \
          the stored token. If a server cannot be reached, run signet message token again.
          """,
        options: [
          pushToken,
          .value(
            "push-service", "The service of the token", default: "apns", completion: .choices(pushServices)),
        ]
      ) { arguments in
        let target = try target(arguments)
        let (failed, mechanisms) = try await withOpened(arguments) { device, password in
          let failed: [(mechanism: PushMechanism, failure: SignetError)]
          if let target {
            failed = try await device.accounts.setPushDevice(target, by: password)
          } else {
            failed = try await device.accounts.sendPushTokens(whenDue: false, by: password)
          }
          return (failed, try await device.accounts.enrolled(by: password).compactMap(\.push))
        }
        // Includes those whose retry time has not come.
        let due = mechanisms.filter(\.isUpdateDue)
        for (mechanism, failure) in failed {
          arguments.errorOutput.print(
            "\(mechanism.fullName, limit: 200): \(TerminalText(describing: failure))")
        }
        let stored: TerminalText = target == nil ? "" : "The push token is stored. "
        let state: TerminalText =
          mechanisms.isEmpty
          ? "No account with push messages is enrolled yet; enrol one with signet import or signet scan."
          : due.isEmpty
            ? "All servers have it."
            : "Servers that do not have it yet: \(due.count). To try again, run signet message token."
        arguments.report(
          "\(stored)\(state)",
          ["failed": .integer(Int64(failed.count)), "due": .integer(Int64(due.count))])
        return due.isEmpty ? .success : .unavailable
      },
    ])

  private static let receiveMessage = Command(
    "receive", "Receive a delivered message: its signature is verified before anything is stored",
    description: """
      Afterwards old messages of the same account are deleted: all but the newest hundred, and those of more than 30 \
      days, unless an option says otherwise. The ids of deleted messages are remembered, so that no message is \
      accepted twice.
      """,
    options: [
      .value("keep-count", "Keep this many messages of the account, whatever their age", named: "n"),
      .value("keep-days", "Keep messages of this many days, whatever their number", named: "n"),
      .flag("keep-all", "Delete no message"),
    ],
    arguments: [
      Argument("file", "The push as JSON, or its token; - for standard input", completion: .file)
    ],
    examples: [.init("signet message receive push.json", "Keep a message that a gateway wrote to a file")]
  ) { arguments in
    let cleanUp = try cleanUp(arguments)
    let bytes = try InputFile.bytes(
      of: arguments.string("file"), limit: PushAuthDelivery.maximumByteCount)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.dataError, "the message is not UTF-8")
    }
    let delivery: PushAuthDelivery
    do throws(PushAuthFailure) { delivery = try PushAuthDelivery(text) } catch {
      throw SignetError.pushAuth(error)
    }
    let (received, isKnown): (ListedMessage?, Bool) = try await withOpened(arguments) { device, password in
      switch try await device.accounts.receive(delivery, cleanUp: cleanUp, by: password) {
      case .new(let notification): (try await message(notification.id, on: device, password), false)
      case .known(let notification): (try await message(notification.id, on: device, password), true)
      case .forgotten: (nil, true)
      }
    }
    guard let received else {
      arguments.report("Received before, and deleted since.", ["forgotten": true])
      return .success
    }
    let shown = received.text(on: arguments.output)
    arguments.report(isKnown ? "Received before.\n\(shown)" : shown, received.json)
    return .success
  }

  private static func cleanUp(_ arguments: Arguments) throws -> PushAuthCleanUp {
    let count = try arguments.optionalInteger("keep-count", in: 1...PushAuthInbox.limit)
    let days = try arguments.optionalInteger("keep-days", in: 1...36_500)
    guard arguments.isSet("keep-all") else {
      switch (count, days) {
      case (let count?, let days?): return .hybrid(count: count, days: days)
      case (let count?, nil): return .count(count)
      case (nil, let days?): return .age(days: days)
      case (nil, nil): return .standard
      }
    }
    guard count == nil, days == nil else {
      throw CommandFailure(.usage, "--keep-all excludes --keep-count and --keep-days")
    }
    return .none
  }

  private static let messageArgument = Argument("id", "The message id, as signet message list shows it")
  private static let optionalMessageArgument = Argument(
    "id", "The message id, as signet message list shows it; not needed where one message waits",
    arity: .optional)

  /// Runs a body with the device and the password of the accounts, like ``DeviceOptions/withAccountsPassword(on:_:)``.
  private static func withOpened<Value>(
    _ arguments: Arguments, _ body: (Device, SharedSecretBox?) async throws -> Value
  ) async throws -> Value {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: true)
    return try await options.withAccountsPassword(on: device) { try await body(device, $0) }
  }

  /// An account whose server could not be asked, or sent an unacceptable message, and the failure.
  private typealias FailedReception = (mechanism: PushMechanism, failure: SignetError)

  /// Receives messages for accounts whose servers do not push.
  ///
  /// - Returns: The accounts that could not be asked, which are also reported.
  @discardableResult
  private static func receiveWaiting(
    on device: Device, _ password: SharedSecretBox?, _ arguments: Arguments
  ) async throws -> [FailedReception] {
    let failures = try await device.accounts.receiveWaiting(by: password)
    for (mechanism, failure) in failures {
      arguments.errorOutput.print(
        "signet: \(mechanism.fullName, limit: 200): \(TerminalText(describing: failure))")
    }
    return failures
  }

  private static func json(of failed: FailedReception) -> JSONObject {
    let mechanism = failed.mechanism
    return [
      "account": .string(mechanism.account.description), "issuer": .string(mechanism.issuer),
      "name": .string(mechanism.name), "reason": .string(failed.failure.description),
    ]
  }

  /// Returns a received message; otherwise asks the servers that may have it.
  private static func received(
    _ id: String, on device: Device, _ password: SharedSecretBox?, _ arguments: Arguments
  ) async throws -> ListedMessage {
    do throws(SignetError) {
      let found = try await device.accounts.message(id, by: password)
      return ListedMessage(of: found.mechanism, found.notification)
    } catch {
      guard case .pushAuth(.noSuchNotification) = error else { throw error }
    }
    try await receiveWaiting(on: device, password, arguments)
    return try await message(id, on: device, password)
  }

  private static func message(
    _ id: String, on device: Device, _ password: SharedSecretBox?
  ) async throws -> ListedMessage {
    do throws(SignetError) {
      let found = try await device.accounts.message(id, by: password)
      return ListedMessage(of: found.mechanism, found.notification)
    } catch { throw explained(error) }
  }

  /// Returns the message that the command line names, or the only waiting one.
  private static func chosen(
    _ arguments: Arguments, on device: Device, _ password: SharedSecretBox?
  ) async throws -> ListedMessage {
    if let id = arguments.optionalString("id") {
      return try await received(id, on: device, password, arguments)
    }
    let failures = try await receiveWaiting(on: device, password, arguments)
    let waiting = try await device.accounts.messages(pendingOnly: true, by: password)
    guard let only = waiting.first else {
      guard let failure = failures.first?.failure else { throw CommandFailure(.failure, "no message waits") }
      throw CommandFailure(
        exitCode(of: failure), "no message is known that waits; not every server could be asked")
    }
    guard waiting.count == 1 else {
      throw CommandFailure(
        .usage, "\(waiting.count) messages wait; name one (signet message list --pending shows them)")
    }
    return ListedMessage(of: only.mechanism, only.notification)
  }

  private static func answer(_ decision: PushDecision, _ arguments: Arguments) async throws -> ExitCode {
    let answered = try await withOpened(arguments) { device, password in
      let conversation = TerminalConversation(output: arguments.errorOutput)
      let message = try await chosen(arguments, on: device, password)
      // Before the answer, and on standard error, so that scripts that read the output are not disturbed.
      arguments.errorOutput.print(message.text(on: arguments.errorOutput))
      let isPending = message.notification.isPending
      if message.notification.message.kind == .challenge, decision == .approve, isPending {
        throw CommandFailure(
          .usage, "the sign-in shows a number: give it with --number. \(ours: PushAuthMessage.oneNumber)")
      }
      do throws(SignetError) {
        try await device.accounts.answer(
          message.notification.id, decision, passcode: conversation, by: password)
      } catch {
        switch error {
        case .pushAuthRefused where message.isExpired, .pushAuth(.ended) where message.isExpired:
          throw CommandFailure(.failure, "the message has expired; ask the other side to start again")
        default: throw explained(error)
        }
      }
      return message
    }
    arguments.report(
      decision == .deny ? "Denied." : "Approved.",
      [
        "id": .string(answered.notification.id), "issuer": .string(answered.mechanism.issuer),
        "name": .string(answered.mechanism.name),
        "decision": decision == .deny ? "denied" : "approved",
      ])
    return .success
  }

  /// Converts a failure, and adds the remedy at a terminal.
  private static func explained(_ failure: SignetError) -> any Error {
    switch failure {
    case .pushAuth(.noSuchNotification):
      CommandFailure(
        .dataError,
        "\(TerminalText(describing: failure, limit: 1000)); signet message list shows what there is")
    case .biometrics(.notCapable), .biometrics(.notEnrolled), .biometrics(.unavailable),
      .passcode(.notCapable),
      .passcode(.unavailable):
      CommandFailure(
        .unavailable,
        "its server requires user verification, but this device has neither an enrolled finger nor a passcode for it; "
          + "signet doctor shows what is missing, and signet message deny denies the message")
    default: failure
    }
  }

  /// Returns the push target of the options; `nil` if they set none.
  static func target(_ arguments: Arguments) throws -> PushAuthDevice? {
    let service = arguments.string("push-service")
    let isLive = service == PushAuthDevice.live
    // The token is a placeholder, because a live device has none.
    guard let token = isLive ? PushAuthDevice.live : arguments.optionalString("push-token") else {
      return nil
    }
    guard !isLive || !arguments.isSet("push-token") else {
      throw CommandFailure(.usage, "--push-service live and --push-token exclude each other")
    }
    do throws(PushAuthFailure) {
      return try PushAuthDevice(
        token: token, name: "signet", platform: platform(at: service), service: service)
    } catch { throw SignetError.pushAuth(error) }
  }

  /// Returns the platform for servers: Apple's and Google's for their services, because servers of other vendors require
  /// them.
  private static func platform(at service: String) -> String {
    switch service {
    case "apns": "ios"
    case "gcm": "android"
    default: Device.platform
    }
  }

  /// Enrols this device with a URI.
  static func enrol(_ text: String, _ arguments: Arguments) async throws -> Enrolment {
    let uri = try AuthenticatorURI(text)
    let target = try target(arguments)
    return try await withOpened(arguments) { device, password in
      do throws(SignetError) {
        return try await device.accounts.enrol(
          uri, from: target, exportable: !arguments.isSet("not-exportable"), by: password)
      } catch {
        guard case .pushAuth(.missing("device token")) = error else { throw error }
        throw CommandFailure(
          .usage,
          "its server needs the push token of this device: give it with --push-token, or set --push-service live"
        )
      }
    }
  }

  /// Returns true if a text is a URI that ``enrol(_:_:)`` accepts.
  static func isEnrolment(_ text: String) -> Bool {
    let start = text.prefix(16).lowercased()
    return start.hasPrefix("pushauth://") || start.hasPrefix("mfauth://")
  }
}

extension Enrolment {
  /// Prints the account, and the conflicting policies.
  func report(_ arguments: Arguments) -> ExitCode {
    let name = TerminalText("\(account.issuer) (\(account.name))", limit: 200)
    for policy in policyConflicts {
      arguments.errorOutput.print(
        "The policy \(policy, limit: 80) differs; the stored one is kept.")
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
}

private struct ListedMessage {
  let mechanism: PushMechanism
  let notification: PushAuthNotification

  init(of mechanism: PushMechanism, _ notification: PushAuthNotification) {
    (self.mechanism, self.notification) = (mechanism, notification)
  }

  /// True if the message has expired, by this machine's clock.
  var isExpired: Bool { notification.isExpired(at: SystemWallClock().now * 1000) }

  private var state: String {
    switch notification.state(at: SystemWallClock().now * 1000) {
    case .pending: "pending"
    case .expired: "expired"
    case .approved: "approved"
    case .denied: "denied"
    case .ended: "ended"
    }
  }

  /// Returns the text for a terminal: ID and possible answers, sender, and content, behind bars.
  func text(on terminal: Terminal) -> TerminalText {
    let message = notification.message
    let instruction =
      switch message.kind {
      case .default: "approve or deny"
      case .challenge where message.numbers.isEmpty: "approve with --number. \(PushAuthMessage.oneNumber)"
      case .challenge: "approve with --number, one of \(message.numberList). \(PushAuthMessage.oneNumber)"
      case .biometric: "approve with a finger or the passcode"
      }
    let status = state == "pending" ? instruction : state
    return
      "Message \(notification.id, limit: 200): \(ours: status)\n\(message.text(of: mechanism, on: terminal))"
  }

  var json: JSONObject {
    let message = notification.message
    var json: JSONObject = [
      "id": .string(notification.id), "issuer": .string(mechanism.issuer), "name": .string(mechanism.name),
      "account": .string(mechanism.account.description), "kind": .string(message.kind.rawValue),
      "status": .string(state),
      "received": .integer(notification.received / 1000), "expires": .integer(notification.expires / 1000),
    ]
    if message.kind == .challenge { json["numbers"] = .array(message.numbers.map { .integer($0) }) }
    for (name, value) in [
      ("text", message.text), ("context", message.context), ("customPayload", message.customPayload),
      ("decision", notification.decision?.rawValue),
    ] { json[name] = value.map { .string($0) } }
    return json
  }
}

extension PushMechanism {
  /// Issuer and name; if another account has the same, with the account's ID in front, as in the list of accounts.
  var fullName: String { (hasNamesake ? "\(account.shortForm) " : "") + "\(issuer) (\(name))" }
}

extension PushAuthMessage {
  /// The warning before a number is sent: some servers, Signet's included, accept only one attempt.
  static let oneNumber = "A wrong number may deny the message"

  /// The offered numbers, separated by commas.
  var numberList: String { numbers.map(String.init).joined(separator: ", ") }

  /// Returns the sender and the content, behind bars.
  func text(of mechanism: PushMechanism, on terminal: Terminal) -> TerminalText {
    var block = TerminalBlock(on: terminal)
    block.field("from", "\(mechanism.issuer) (\(mechanism.name))")
    if mechanism.hasNamesake { block.field("account", mechanism.account.shortForm) }
    if let text { block.text(text) }
    return block.text
  }
}
