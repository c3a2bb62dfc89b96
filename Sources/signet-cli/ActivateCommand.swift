import Signet
import SignetJSON
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Command {
  static let activate = Command(
    "activate", "Make a container from an activation code",
    description: """
      The code is read from a picture of its QR code, given as text, or typed by hand as three values: user, server \
      and invite. If the server requires a password, it is asked for twice. A key may have its own password: first \
      comes the password of the container, then those of the signing key, the one-time password key and the session \
      key, if they have one.

      If the connection fails, the code can be used again. A container that was stored but not confirmed is confirmed \
      by the next command that reaches the server.

      Activating again for the same user at the same server replaces the container: what apps encrypted with it \
      becomes unreadable. The command asks for confirmation first, unless --yes is given. To make new keys and keep \
      what is encrypted, use signet renew; if the password is forgotten or locked, use signet recovery reset.

      A picture may have 33554432 pixels, 8192 on a side. A picture with too many possible corners of QR codes is \
      refused, since reading it would take too long; crop it to the code. Any other takes 25 s of processor time at \
      most; the worst that were tested took 5 s.
      """,
    options: [
      .value("qr", "Read the QR code in this PNG picture", named: "file", completion: .file),
      .value(
        "code-file", "Read the activation code's text from this file; - is standard input", named: "file",
        completion: .file),
      .value("user", "By hand: the user id"),
      .value("server", "By hand: the server, HOST[:PORT]/DOMAIN"),
      .value("invite", "By hand: the invite code; asked for where it is missing", named: "code"),
      .value("name", "The name of the container on this device"),
      .value("device-name", "The name of this device, shown to the operator", named: "name"),
      .flag("yes", "Replace a container of the same user at the same server without asking", short: "y"),
    ]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let code = try await activationCode(arguments)
    let device = try options.device(createIfMissing: true)
    guard try await mayReplace(code, on: device, arguments) else {
      arguments.errorOutput.print("Nothing was changed.")
      return .failure
    }
    let progress = ProgressLine(on: arguments.errorOutput)
    let handler = TerminalActivation(options: options, progress: progress)
    let container: Container
    do {
      container = try await device.createContainer(
        ContainerInitialization(
          code: code, deviceName: arguments.optionalString("device-name") ?? ProcessInfo.processInfo.hostName,
          containerName: arguments.optionalString("name") ?? ""), handler: handler)
    } catch {
      progress.finish()
      switch error {
      case SignetError.transport(.certificateRefused(.unknownIssuer)):
        throw CommandFailure(
          .protocolError,
          "the server's certificate was refused: its issuer is not trusted; name the operator's ca.pem with --ca"
        )
      case SignetError.transport(.wrongPin):
        throw CommandFailure(
          .protocolError,
          "the server's key is not one of the pinned keys: it was changed since the code was made, or somebody intercepts the connection; ask the operator for a new activation code"
        )
      default: throw handler.failure ?? code.server.named(error)
      }
    }
    progress.finish()
    if arguments.isSet("json") {
      arguments.output.print(json: JSONValue.object(container.json).text)
    } else {
      arguments.output.print("Activated \(container.fullName).")
      arguments.output.print("Keystore: \(device.keystoreKind)")
    }
    return .success
  }
}

/// Asks for confirmation if a new container replaces one whose app-encrypted data would be lost.
private func mayReplace(
  _ code: ActivationCode, on device: Device, _ arguments: Arguments
) async throws -> Bool {
  let filter = ContainerFilter(user: code.user, server: code.server)
  guard !arguments.isSet("yes"), let present = try await device.containers(matching: filter).first else {
    return true
  }
  let name = present.fullName
  let loss: TerminalText =
    "replaces \(name); what apps encrypted with it becomes unreadable; to keep it use signet renew or signet recovery reset"
  do {
    return try await Question.terminal.confirm("This \(loss). Go on", preset: false)
  } catch .noTerminal {
    throw CommandFailure(.usage, "this \(loss); to replace it, add --yes")
  }
}

private func activationCode(_ arguments: Arguments) async throws -> ActivationCode {
  let sources = ["qr", "code-file", "server"].filter { arguments.isSet($0) }
  guard sources.count == 1 else {
    throw CommandFailure(
      .usage,
      "give the activation code in one way: --qr FILE, --code-file FILE, or --user, --server and --invite together"
    )
  }
  if let path = arguments.optionalString("qr") {
    return try ActivationCode(parsing: ScannedKind.expect(.activationCode, ScannedText.picture(path)))
  }
  if let path = arguments.optionalString("code-file") {
    try ScannedKind.expectFile(path)
    let text = try InputFile.text(of: path).trimmed
    guard !text.isEmpty else {
      throw CommandFailure(.dataError, "\(path) is empty; ask for a new activation code")
    }
    return try ActivationCode(parsing: ScannedKind.expect(.activationCode, text))
  }
  guard let user = arguments.optionalString("user") else {
    throw CommandFailure(.usage, "--user is missing; give --user, --server and --invite together")
  }
  let server = try ServerURL(arguments.string("server"))
  let inviteText: String
  if let option = arguments.optionalString("invite") {
    inviteText = option
  } else {
    inviteText = try await answering(with: "--invite") { try await Question.terminal.line("Invite code: ") }
  }
  return ActivationCode(server: server, user: try UserID(user), invite: try InviteCode(inviteText))
}
