import Signet
import SignetImages
import SignetJSON
import SignetSystem
import SignetTerminal

extension Command {
  static let export = Command(
    "export", "Write accounts for other authenticators",
    description: """
      Writes a file of mode 0600, or draws QR codes. Accounts that may not leave this device, or that the format \
      cannot represent, are named and left out. The key of a container is exported with --container, if its server \
      allows that.

      Both authenticators then have the same secret. Their counters are separate: use one of them only.

      With --encrypt the password of the file is asked for twice, after that of the accounts on this device, if they \
      have one; with --password-fd it is one line. It has at least 8 characters, and is not a common password.
      """,
    options: [
      .value(
        "format", "The format of the file", default: "otpauth",
        completion: .choices(InterchangeFormat.allCases.filter { $0 != .raivo }.map(\.rawValue))),
      .flag("encrypt", "Encrypt the file with a password: aegis, 2fas, andotp, pskc"),
      .value(
        "output", "The file to write; it is replaced as a whole", short: "o", named: "file", completion: .file
      ),
      .flag("show-qr", "Draw QR codes at the terminal: otpauth, google"),
      .value(
        "png",
        "Write QR codes to this file, or to FILE-1.png, FILE-2.png … where there are several; they are replaced: otpauth, google",
        named: "file", completion: .file),
      ContainerChoice.option,
    ],
    arguments: [Argument("account", "The accounts; without a name, all of them", arity: .many(minimum: 0))],
    examples: [
      .init("signet export --format 2fas --encrypt -o accounts.2fas", "Write all accounts, encrypted"),
      .init("signet export --show-qr Example:alice", "Show the QR code of one"),
    ]
  ) { arguments in
    report(try await written(arguments), arguments)
    return .success
  }

  /// The result of an export, without secrets.
  private struct Summary {
    let format: InterchangeFormat
    let count: Int
    let skipped: [SkippedAccount]
    let refused: [Account]
  }

  /// Exports; passwords and accounts are wiped when it returns.
  private static func written(_ arguments: Arguments) async throws -> Summary {
    let options = try DeviceOptions(arguments)
    guard let format = InterchangeFormat(rawValue: arguments.string("format")), format != .raivo else {
      throw CommandFailure(.usage, "--format is not a format that can be written")
    }
    let target = try ExportTarget(arguments, format)
    let device = try options.device(createIfMissing: false)
    let (accounts, refused) = try await exported(arguments, options, device)
    for account in refused {
      arguments.errorOutput.print("Not exported: \(account.shown): it may not leave this device")
    }
    guard !accounts.isEmpty else {
      throw CommandFailure(
        .dataError,
        refused.isEmpty ? "there are no accounts to export" : "none of these accounts may be exported")
    }
    var password: SharedSecretBox?
    if arguments.isSet("encrypt") {
      password = try await options.newFilePassword()
    } else {
      arguments.errorOutput.print(
        "Warning: this holds the secrets in plain text; whoever reads it can make these codes.")
    }
    let written = try AccountFile.write(accounts, as: format, password: password)
    for skipped in written.skipped { arguments.errorOutput.print("Not exported: \(skipped.line)") }
    guard written.count > 0 else {
      throw CommandFailure(
        .dataError, "\(ours: format.title) can represent none of these accounts; choose another --format")
    }
    try target.write(written.contents, arguments)
    return Summary(format: format, count: written.count, skipped: written.skipped, refused: refused)
  }

  private static func exported(
    _ arguments: Arguments, _ options: DeviceOptions, _ device: Device
  ) async throws -> (accounts: [OTPAccount], refused: [Account]) {
    if arguments.isSet("container") {
      guard arguments.strings("account").isEmpty else {
        throw CommandFailure(.usage, "--container names a container; leave the accounts out")
      }
      let container = try await ContainerChoice.container(arguments, of: device)
      // Checked before the user is asked for a password.
      guard container.profile.isOTPExportable else { throw SignetError.notExportable }
      let account = try await options.authenticated(
        container, key: .oneTimePassword, on: device, to: "Export the one-time password key"
      ) {
        try await device.exportedAccount(of: container, by: $0)
      }
      return ([account], [])
    }
    let (all, password) = try await options.accounts(on: device)
    let chosen = try AccountChoice.several(arguments.strings("account"), of: all)
    return try await device.accounts.export(chosen.map(\.id), by: password)
  }

  private static func report(_ written: Summary, _ arguments: Arguments) {
    if arguments.isSet("json") {
      let object: JSONObject = [
        "format": .string(written.format.rawValue), "exported": .integer(Int64(written.count)),
        "refused": .array(written.refused.map { .object($0.json) }),
        "skipped": .array(written.skipped.map { .object($0.json) }),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
    } else if arguments.isSet("output") || arguments.isSet("png") {
      arguments.output.print("Exported \(written.count) \(written.count == 1 ? "account" : "accounts").")
    }
  }
}

private enum ExportTarget {
  case file(String)
  case terminal
  case pictures(String)

  init(_ arguments: Arguments, _ format: InterchangeFormat) throws {
    let targets = ["output", "show-qr", "png"].filter { arguments.isSet($0) }
    guard targets.count == 1 else {
      throw CommandFailure(.usage, "give one of --output FILE, --show-qr and --png FILE")
    }
    if arguments.isSet("encrypt"), !format.canBeEncrypted {
      throw CommandFailure(.usage, "\(ours: format.title) has no encryption; use aegis, 2fas, andotp or pskc")
    }
    guard targets[0] == "output" || format == .otpauth || format == .google else {
      throw CommandFailure(.usage, "QR codes are drawn of otpauth and google; write the others to a file")
    }
    switch targets[0] {
    case "output": self = .file(arguments.string("output"))
    case "show-qr":
      guard !arguments.isSet("json") else {
        throw CommandFailure(.usage, "--show-qr and --json do not go together")
      }
      self = .terminal
    default: self = .pictures(arguments.string("png"))
    }
  }

  func write(_ contents: SharedSecretBox, _ arguments: Arguments) throws {
    switch self {
    case .file(let path):
      let failure = contents.withSecret { secret in
        secret.withBytes { bytes -> FileFailure? in
          do throws(FileFailure) { try PrivateFile.place(bytes, at: path, .replacing) } catch { return error }
          return nil
        }
      }
      if let failure {
        throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(ours: systemMessage(failure.code))")
      }
    case .terminal:
      let texts = texts(contents)
      for (index, text) in texts.enumerated() {
        if texts.count > 1 { arguments.errorOutput.print("QR code \(index + 1) of \(texts.count):") }
        arguments.output.write(ours: try QRCode(text).terminalText(.colouredHalfBlocks))
      }
    case .pictures(let path):
      let texts = texts(contents)
      let base = path.hasSuffix(".png") ? String(path.dropLast(4)) : path
      for (index, text) in texts.enumerated() {
        try QRCode(text).writePNG(to: texts.count == 1 ? path : "\(base)-\(index + 1).png")
      }
    }
  }

  private func texts(_ contents: SharedSecretBox) -> [String] {
    contents.withSecret { secret in
      secret.withTemporaryArray { bytes in
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      }
    }
  }
}

extension DeviceOptions {
  /// Reads the new password of an exported file: typed twice, or one line of a script.
  ///
  /// An attacker with the file can try passwords without limit, so the password must satisfy the rules for accounts.
  fileprivate func newFilePassword() async throws -> SharedSecretBox {
    arguments.errorOutput.print("The file gets a password of its own.")
    let password = try await newPassword(under: Accounts.passwordPolicy, .none, .change)
    let violations = try await Accounts.passwordPolicy.violations(
      of: password, purpose: .change, checks: .platform)
    guard violations.isEmpty else { throw SignetError.passwordRefused(violations) }
    return password
  }
}
