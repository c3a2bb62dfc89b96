import SignetImages
import SignetJSON
import SignetProtocol
import SignetServer
import SignetTerminal

/// `signet-server activation …`.
enum ActivationCommands {
  static let group = Command(
    "activation", "Invite users to activate devices", options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Create an activation code for a user",
        description: """
          The code can be used once, and is shown only once; an earlier code of the same user becomes void. \
          Hand it over in a way that reaches the right person only. Where no camera is at hand, the user \
          types the server, the user id and the invite code.

          On a terminal the code is shown as a QR code.
          """,
        options: [
          .value("lifetime", "How long the code is valid: 1m to 30d", named: "duration", default: "1d"),
          .value(
            "png", "Write the code as a PNG image to this new file, readable by its owner only",
            named: "file",
            completion: .file),
          .flag("show-qr", "Print the QR code even where the output is no terminal"),
        ],
        arguments: [UserCommands.user],
        examples: [
          .init(
            "signet-server activation create alice --lifetime 15m --png alice.png --data ./demo",
            "Invite alice for a quarter of an hour")
        ], synonyms: ["add", "new", "invite"], handler: create)
    ])

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    let lifetime = try arguments.seconds("lifetime", in: 60...2_592_000)
    let order = try NewActivation(user: arguments.value("user"), lifetime: Int64(lifetime))
    let client = try OperatorClient(arguments, for: API.invite)
    // Create the file first: a code that could not be written would be lost.
    var picture = try NewFile.named(by: "png", arguments)
    let answer = try await client.send(API.invite, order)
    let code = try QRCode(answer.message.code)
    // Write it before any output, whose reader may have gone: the code cannot be shown again.
    try picture?.write(code.png(), or: "make another code")
    return arguments.show(answer) { created in
      if arguments.output.isTerminal || arguments.isSet("show-qr") { show(code, arguments) }
      arguments.output.print(
        fields: [
          ("Server", client.server.shortForm), ("User id", order.user.text), ("Invite code", created.invite),
          ("Expires", utc(created.expires)),
        ], copying: ["Invite code"])
    }
  }

  /// Prints a QR code, if it fits or was requested.
  static func show(_ code: QRCode, _ arguments: Arguments) {
    let output = arguments.output
    let columns = (code.side + 2 * QRCode.standardQuietZone) * (output.usesUTF8 ? 1 : 2)
    guard columns <= output.width || arguments.isSet("show-qr") else {
      arguments.errorOutput.print("The QR code needs \(columns) columns; widen the window or use --png FILE.")
      return
    }
    let style: QRCode.TerminalStyle =
      switch (output.usesUTF8, output.usesColour) {
      case (true, true): .colouredHalfBlocks
      case (true, false): .halfBlocks(.dark)
      case (false, _): .ascii(.dark)
      }
    output.write(ours: code.terminalText(style))
  }
}
