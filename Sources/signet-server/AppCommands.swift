import SignetImages
import SignetJSON
import SignetOATH
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server app …`: authenticator apps of other vendors (`docs/protocol.md` section 15).
enum AppCommands {
  static let group = Command(
    "app", "Let users' authenticator apps enrol for push messages",
    description: """
      Apps of Ping's (ForgeRock's) kind enrol by a URI that begins with pushauth://, and so does 'signet \
      import'. They are asked with 'message create', and about transactions if a named requirement allows \
      them; their answers sign no text.
      """,
    options: OperatorOptions.connection,
    commands: [
      Command(
        "invite", "Create the URI with which a user's app enrols",
        description: """
          The URI can be used once, within 15 minutes. It contains the app's secret: show it to the right \
          person only. On a terminal it is shown as a QR code.

          With --codes it begins with mfauth://, and the app's one-time codes are those of a token of the \
          user, which becomes active when the app enrols, and is removed with the app.
          """,
        options: [
          .value("issuer", "The issuer that the app shows; the server by default", named: "text"),
          .value("account", "The account that the app shows; the user id by default", named: "text"),
          .value(
            "policies", "Account policies that the app is to evaluate, as JSON, such as {\"screenLock\":{}}",
            named: "json"),
          .value(
            "codes", "Have the app make one-time codes too, by time or by counter", named: "kind",
            completion: .choices(["totp", "hotp"])),
          .value(
            "digits", "With --codes, the number of digits: 6 by default", named: "n",
            completion: .choices(["6", "8"])),
          .value(
            "period", "With --codes totp, the period of a code: 5s to 5m, 30s by default", named: "duration"
          ),
          .value(
            "algorithm", "With --codes, the hash algorithm: SHA1 by default", named: "name",
            completion: .choices(OATHAlgorithm.standardNames)),
          .value(
            "png", "Write the URI as a PNG image to this new file, readable by its owner only", named: "file",
            completion: .file),
          .flag("show-qr", "Print the QR code even where the output is no terminal"),
        ],
        arguments: [UserCommands.user],
        examples: [
          .init(
            "signet-server app invite alice --issuer Bank --png alice.png --data ./demo",
            "Have alice scan a QR code with her authenticator app")
        ], synonyms: ["add", "create"], handler: invite),
      Command(
        "list", "List a user's apps",
        description: """
          APP is the id that the other commands require. An app is pending until it has enrolled. LAST \
          ANSWER is when it last answered a message of the last 30 days. ISSUER and ACCOUNT are what the app \
          shows.
          """, arguments: [UserCommands.user]
      ) { arguments in
        try await arguments.ask(API.listPushApps, PushAppQuery(user: arguments.value("user"))) {
          arguments.output.print(
            [
              "APP", "STATE", .init("DEVICE", limit: 40), .init("PLATFORM", limit: 20),
              .init("PUSHES BY", limit: 20), "CREATED", "LAST ANSWER", .init("ISSUER", limit: 40),
              .init("ACCOUNT", limit: 40),
            ],
            $0.authenticators.map {
              [
                $0.id.text, $0.state.rawValue, $0.deviceName ?? "-", $0.platform ?? "-", $0.service ?? "-",
                utc($0.created), $0.lastAnswered.map(utc) ?? "-", $0.issuer, $0.account,
              ]
            })
        }
      },
      Command(
        "remove", "Remove an app, with the messages that wait for it",
        description:
          "Later answers of the app are refused. If the app asks for its messages, the server says that the app is unknown.",
        arguments: [Argument("id", "The app's id, as 'app list' shows it")],
        synonyms: ["delete", "revoke"]
      ) { arguments in
        try await arguments.ask(API.removePushApp) { arguments.output.print("removed \($0.id)") }
      },
    ])

  private static func invite(_ arguments: Arguments) async throws -> ExitCode {
    let policies = try arguments.optionalString("policies").map { try ContainerLockCommands.policies($0) }
    let app = try NewPushApp(
      user: arguments.value("user"), issuer: arguments.optionalString("issuer"),
      account: arguments.optionalString("account"), policies: policies?.json, codes: codes(arguments))
    let client = try OperatorClient(arguments, for: API.enrolPushApp)
    // Create the file first: a URI that could not be written would be lost.
    var picture = try NewFile.named(by: "png", arguments)
    let answer = try await client.send(API.enrolPushApp, app, sayingFor: ["policies": "--policies"])
    // Write it before any output, whose reader may have gone: the URI cannot be shown again.
    try picture?.write(QRCode(answer.message.uri).png(), or: "make another invitation")
    for policy in policies.map(UnevaluatedPolicy.all) ?? [] {
      arguments.errorOutput.print("signet-server: \(policy)")
    }
    return try arguments.show(answer) { created in
      if arguments.output.isTerminal || arguments.isSet("show-qr") {
        ActivationCommands.show(try QRCode(created.uri), arguments)
      }
      var fields = [("App", created.id.text), ("User id", app.user.text), ("URI", created.uri)]
      if let serial = created.token { fields.append(("Token", serial)) }
      arguments.output.print(fields: fields + [("Expires", utc(created.expires))], copying: ["URI"])
    }
  }

  /// Returns the options for one-time codes; `nil` if the app makes none.
  private static func codes(_ arguments: Arguments) throws -> NewPushApp.Codes? {
    guard let kind: CredentialRecord.Kind = try arguments.optionalValue("codes") else {
      for option in ["digits", "period", "algorithm"] where arguments.isSet(option) {
        throw UsageFailure.refused("--\(ours: option) goes with --codes")
      }
      return nil
    }
    guard kind == .totp || !arguments.isSet("period") else {
      throw UsageFailure.refused("--period goes with --codes totp")
    }
    return try NewPushApp.Codes(
      kind: kind, algorithm: arguments.optionalValue("algorithm"),
      digits: arguments.optionalInteger("digits", in: 6...8).map { Int64($0) },
      period: arguments.isSet("period") ? Int64(arguments.seconds("period", in: 5...300)) : nil)
  }
}
