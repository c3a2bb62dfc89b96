import SignetJSON
import SignetOATH
import SignetPolicy
import SignetQR
import SignetServer
import SignetTerminal

/// `signet-server authenticator …`: apps of other makers (`docs/protocol.md` section 15).
enum AuthenticatorCommands {
  static let group = Command(
    "authenticator", "Let users' authenticator apps enrol for push messages",
    description: """
      Apps of Ping's (ForgeRock's) kind enrol by a URI that begins with pushauth://, and so does 'signet import'. They are asked with \
      'message create', and about transactions where a named requirement allows them; what they answer signs no text.
      """,
    options: OperatorOptions.connection,
    commands: [
      Command(
        "invite", "Make the URI by which a user's app enrols",
        description: """
          The URI is good once, for 15 minutes. The app's secret is in it: show it to the right person only. On a terminal it is shown \
          as a QR code.

          With --codes it begins with mfauth://, and the app's one-time codes are those of a token of the user, which counts once the \
          app has enrolled, and goes with it.
          """,
        options: [
          .value("issuer", "What the app shows as the issuer; else the server", named: "text"),
          .value("account", "What the app shows as the account; else the user id", named: "text"),
          .value(
            "policies", "Account policies that the app is to evaluate, as JSON, such as {\"screenLock\":{}}",
            named: "json"),
          .value(
            "codes", "Have the app make one-time codes too, by time or by counter", named: "kind",
            completion: .choices(["totp", "hotp"])),
          .value(
            "digits", "With --codes, how long one is: 6 unless given", named: "n",
            completion: .choices(["6", "8"])),
          .value(
            "period", "With --codes totp, how long one is good: 5s to 5m, 30s unless given", named: "duration"
          ),
          .value(
            "algorithm", "With --codes, what makes them: SHA1 unless given", named: "name",
            completion: .choices(OATHAlgorithm.standardNames)),
          .value(
            "png", "Write the URI as a PNG image to this new file, readable by its owner only", named: "file",
            completion: .file),
          .flag("show-qr", "Print the QR code even where the output is no terminal"),
        ],
        arguments: [UserCommands.user],
        examples: [
          .init(
            "signet-server authenticator invite alice --issuer Bank --png alice.png --data ./demo",
            "Have alice scan a QR code with her authenticator app")
        ], synonyms: ["add", "create"], handler: invite),
      Command(
        "list", "List a user's apps",
        description: """
          AUTHENTICATOR is the id that the other commands take. An app is pending until it has enrolled. LAST ANSWER is when it last \
          answered a message of the last 30 days. ISSUER and ACCOUNT are what the app shows.
          """, arguments: [UserCommands.user]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.listPushApps, arguments, query: [("user", arguments.string("user"))])
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable([
          "AUTHENTICATOR", "STATE", .init("DEVICE", limit: 40), .init("PLATFORM", limit: 20),
          .init("PUSHES BY", limit: 20), "CREATED", "LAST ANSWER", .init("ISSUER", limit: 40),
          .init("ACCOUNT", limit: 40),
        ])
        for app in try objects("authenticators", in: answer) {
          table.append([
            try app.string("id"), try app.string("state"),
            try app.optionalString("deviceName") ?? "-", try app.optionalString("platform") ?? "-",
            try app.optionalString("service") ?? "-", utc(try app.integer("created")),
            try app.optionalInteger("lastAnswered").map { utc($0) } ?? "-", try app.string("issuer"),
            try app.string("account"),
          ])
        }
        arguments.output.print(table)
        return .success
      },
      Command(
        "remove", "Remove an app, with the messages that wait for it",
        description:
          "What it answers from then on is refused. An app that asks what waits for it hears that it is not known any more.",
        arguments: [Argument("id", "The authenticator's id, as 'authenticator list' shows it")],
        synonyms: ["delete", "revoke"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.removePushApp, arguments, at: [.id: arguments.string("id")])
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("removed \(try answer.string("id"))")
        }
        return .success
      },
    ])

  private static func invite(_ arguments: Arguments) async throws -> ExitCode {
    let user = arguments.string("user")
    var body: JSONObject = ["user": .string(user)]
    for name in ["issuer", "account"] { body[name] = arguments.optionalString(name).map { .string($0) } }
    let policies = try arguments.optionalString("policies").map { try ContainerLockCommands.policies($0) }
    body["policies"] = policies.map { .object($0.json) }
    body["codes"] = try codes(arguments).map { .object($0) }
    let client = try OperatorClient(arguments, for: API.enrolPushApp)
    // The file first: a URI that could be written nowhere would be lost.
    var picture = try NewFile.named(by: "png", arguments)
    let answer = try await client.send(
      API.enrolPushApp, body: body, sayingFor: ["policies": "--policies"])
    for policy in policies.map(UnevaluatedPolicy.all) ?? [] {
      arguments.errorOutput.print("signet-server: \(policy)")
    }
    let uri = try answer.string("uri")
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      if arguments.output.isTerminal || arguments.isSet("show-qr") {
        ActivationCommands.show(try QRCode(uri), arguments)
      }
      var fields = [("Authenticator", try answer.string("id")), ("User id", user), ("URI", uri)]
      if let serial = try answer.optionalString("token") { fields.append(("Token", serial)) }
      arguments.output.print(
        fields: fields + [("Expires", utc(try answer.integer("expires")))], copying: ["URI"])
    }
    try picture?.write(QRCode(uri).png(), or: "make another invitation")
    return .success
  }

  /// What the options say of one-time codes; `nil` where the app makes none.
  private static func codes(_ arguments: Arguments) throws -> JSONObject? {
    guard let kind = arguments.optionalString("codes") else {
      for option in ["digits", "period", "algorithm"] where arguments.isSet(option) {
        throw UsageFailure.refused("--\(ours: option) goes with --codes")
      }
      return nil
    }
    var codes: JSONObject = ["kind": .string(kind)]
    codes["digits"] = try arguments.optionalInteger("digits", in: 6...8).map { .integer(Int64($0)) }
    codes["algorithm"] = arguments.optionalString("algorithm").map { .string($0) }
    if arguments.isSet("period") {
      guard kind == "totp" else { throw UsageFailure.refused("--period goes with --codes totp") }
      codes["period"] = .integer(Int64(try arguments.seconds("period", in: 5...300)))
    }
    return codes
  }
}
