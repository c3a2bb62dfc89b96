import Signet
import SignetImages
import SignetJSON
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Command {
  private static let notExportable = Option.flag(
    "not-exportable", "Do not let the accounts leave this device again")

  static let importing = Command(
    "import", "Import accounts of other authenticators",
    description: """
      Reads files of Aegis, 2FAS, andOTP, FreeOTP+ and Raivo, PSKC documents, and otpauth and otpauth-migration URIs, \
      one a line; the format is detected. If the file is encrypted, its password is asked for, before that of the \
      accounts on this device, if they have one.

      Entries that cannot be read are listed with the reason, and the rest is imported. An account that exists already \
      with the same secret is listed and not imported again.

      A pushauth or mfauth URI also enrols for push messages (signet message): nothing is stored unless its server \
      accepts the enrolment. The first enrolment needs the push token of this device (--push-token), or \
      --push-service live. An enrolment that \
      was interrupted continues with the same URI.
      """,
    options: [
      notExportable,
      .value(
        "transport-key", "The pre-shared key of a PSKC document: a file with 32 or 64 hexadecimal digits",
        named: "file", completion: .file),
    ] + pushTarget,
    arguments: [
      Argument(
        "source", "The file, - for standard input, or a URI (which other users may see)", completion: .file)
    ],
    examples: [
      .init("signet import aegis-backup.json", "Import a backup, encrypted or not"),
      .init("signet import --password-fd 3 backup.2fas 3<passwords", "Import from a script"),
    ]
  ) { arguments in
    try await importSource(arguments).report(arguments)
  }

  static let scan = Command(
    "scan", "Import accounts from QR codes in pictures",
    description: """
      Reads PNG pictures, screenshots too. An export of Google Authenticator may have several QR codes, in one picture or in many: \
      name all of them at once, in any order. A code for push messages (pushauth or mfauth) enrols at its server; the \
      first enrolment needs --push-token, or --push-service live. For an activation code, use signet activate --qr.
      """,
    options: [notExportable] + pushTarget,
    arguments: [Argument("image", "A PNG picture", arity: .many(minimum: 1), completion: .file)]
  ) { arguments in
    try await importPictures(arguments).report(arguments)
  }

  // These functions return before a result is printed, so that files, pictures and passwords are wiped by then (decision
  // 184).

  private static func importSource(_ arguments: Arguments) async throws -> ImportOutcome {
    let bytes = try bytes(of: arguments.string("source"))
    guard !QRReader.isPNG(bytes) else {
      throw CommandFailure(.dataError, "this is a picture; read its QR code with signet scan")
    }
    if bytes.count <= OfflineTransaction.maximumByteCount, let text = String(validating: bytes, as: UTF8.self)
    {
      _ = try ScannedKind.expect(.accounts, text.trimmed)
    }
    if bytes.count <= AuthenticatorURI.maximumByteCount, let text = String(validating: bytes, as: UTF8.self),
      isEnrolment(text.trimmed)
    {
      return .enrolment(try await enrol(text, arguments))
    }
    guard let path = arguments.optionalString("transport-key") else {
      return .accounts(try await storeAccounts(from: bytes, arguments))
    }
    let key: PSKCEncryptionKey
    do {
      key = try await PSKCEncryptionKey(
        hexadecimal: SecretInput.file(at: path).read("") { SecretBytes(copying: $0) })
    } catch let failure as SecretInputFailure {
      throw InputFile.unreadable(path, failure)
    }
    return .accounts(
      try await storeAccounts(arguments) { try PSKCContainer(parsing: bytes, key: key).imported() })
  }

  private static func importPictures(_ arguments: Arguments) async throws -> ImportOutcome {
    var lines: [String] = []
    for path in arguments.strings("image") {
      try ScannedKind.expectFile(path)
      let bytes = try InputFile.bytes(of: path, limit: QRReader.maximumByteCount)
      do throws(QRFailure) { lines += try QRReader.texts(inPNG: bytes) } catch {
        throw CommandFailure(.dataError, "\(path): \(error)")
      }
    }
    if lines.count == 1, let line = lines.first, isEnrolment(line) {
      return .enrolment(try await enrol(line, arguments))
    }
    for line in lines { _ = try ScannedKind.expect(.accounts, line) }
    return .accounts(try await storeAccounts(from: Array(lines.joined(separator: "\n").utf8), arguments))
  }

  /// Reads accounts, asks for the password of an encrypted file, and stores them.
  private static func storeAccounts(from bytes: [UInt8], _ arguments: Arguments) async throws -> ImportSummary
  {
    try await storeAccounts(arguments) { try await read(bytes, try DeviceOptions(arguments)) }
  }

  private static func storeAccounts(
    _ arguments: Arguments, _ read: () async throws -> ImportedAccounts
  ) async throws -> ImportSummary {
    let imported = try await read()
    let options = try DeviceOptions(arguments)
    var added = AddedAccounts.none
    var listed: [Account.ID: Account.ID] = [:]
    if !imported.accounts.isEmpty {
      let device = try options.device(createIfMissing: true)
      let password = try await options.accountsPassword(on: device)
      added = try await device.accounts.add(
        imported.accounts, exportable: !arguments.isSet("not-exportable"), by: password)
      if !added.duplicates.isEmpty {
        for account in try await ListedAccount.all(on: device, by: password) {
          for part in account.parts { listed[part] = account.id }
        }
      }
    }
    return ImportSummary(
      format: imported.format, skipped: imported.skipped, hasAccounts: !imported.accounts.isEmpty,
      added: added, listed: listed)
  }

  /// Reads accounts, and asks for the password of an encrypted file.
  private static func read(_ bytes: [UInt8], _ options: DeviceOptions) async throws -> ImportedAccounts {
    let format: InterchangeFormat
    do throws(InterchangeFailure) { return try AccountFile.read(bytes) } catch {
      guard case .passwordNeeded(let encrypted) = error else { throw error }
      format = encrypted
    }
    return try AccountFile.read(bytes, password: try await options.password(for: "the \(format.title) file"))
  }

  private static func bytes(of source: String) throws -> [UInt8] {
    if ScannedKind.isText(source) { return Array(source.utf8) }
    return try InputFile.bytes(of: source, limit: AccountFile.maximumByteCount)
  }
}

/// The result of an import, without secrets.
private enum ImportOutcome {
  case accounts(ImportSummary)
  case enrolment(Enrolment)

  func report(_ arguments: Arguments) -> ExitCode {
    switch self {
    case .accounts(let summary): summary.report(arguments)
    case .enrolment(let enrolment): enrolment.report(arguments)
    }
  }
}

/// The imported accounts, without secrets.
private struct ImportSummary {
  let format: InterchangeFormat
  let skipped: [SkippedAccount]
  let hasAccounts: Bool
  let added: AddedAccounts
  /// The IDs in 'account list' of accounts that existed already.
  let listed: [Account.ID: Account.ID]

  func report(_ arguments: Arguments) -> ExitCode {
    if arguments.isSet("json") {
      let object: JSONObject = [
        "format": .string(format.rawValue), "imported": .array(added.added.map { .object($0.json) }),
        "duplicates": .array(added.duplicates.map { .object($0.json) }),
        "skipped": .array(skipped.map { .object($0.json) }),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      for account in added.added { arguments.output.print("Imported \(account.shown).") }
      for account in added.duplicates {
        arguments.output.print("There already: \(account.shown).")
        let id = listed[account.id] ?? account.id
        arguments.errorOutput.print(
          "To import it again, delete it first: \(command: "signet account delete \(id.shortForm)")")
      }
      for account in skipped { arguments.errorOutput.print("Not imported: \(account.line)") }
      arguments.errorOutput.print(
        "\(format.title): \(added.added.count) imported, \(added.duplicates.count) there already, "
          + "\(skipped.count) not imported.")
    }
    return !hasAccounts && !skipped.isEmpty ? .dataError : .success
  }
}

extension AddedAccounts {
  fileprivate static let none = AddedAccounts()
}

extension SkippedAccount {
  var json: JSONObject {
    ["position": .integer(Int64(position)), "title": .string(title), "reason": .string(reason.description)]
  }

  /// The account and the reason, for a line at a terminal.
  var line: TerminalText {
    let name: TerminalText = title.isEmpty ? "number \(position)" : TerminalText(title, limit: 200)
    return "\(name): \(reason, limit: 500)"
  }
}
