public import SignetCrypto
import SignetJSON
import SignetSystem

/// Import and export files of accounts, in every ``InterchangeFormat``.
public enum AccountFile {
  /// The largest accepted file, in bytes.
  public static let maximumByteCount = 16 << 20

  static let limits = JSONLimits(
    maximumDepth: 32, maximumByteCount: maximumByteCount, maximumMemberCount: 1 << 20)

  /// The result of an export.
  public struct Written: Sendable {
    /// The file; it holds secrets unless it is encrypted.
    public let contents: SharedSecretBox
    /// The accounts that the format cannot represent.
    public let skipped: [SkippedAccount]
    /// The number of accounts in the file.
    public let count: Int
  }

  /// Parses a file and detects its format.
  ///
  /// If a password is needed, its key derivation takes up to some seconds: the file sets the costs.
  ///
  /// - Parameters:
  ///   - bytes: The whole file, or URIs as text, one per line.
  ///   - password: The password, UTF-8 as typed; `nil` for a file that is not encrypted. For PSKC with a pre-shared key use
  ///     ``PSKCContainer``.
  /// - Returns: The accounts, at most ``ImportedAccounts/maximumCount``, and the skipped ones.
  /// - Throws: ``InterchangeFailure``; `passwordNeeded` if the file is encrypted and `password` is `nil`.
  public static func read(
    _ bytes: [UInt8], password: SharedSecretBox? = nil
  ) throws(InterchangeFailure) -> ImportedAccounts {
    guard bytes.count <= maximumByteCount else { throw .tooLarge("file", limit: maximumByteCount) }
    let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) { throw .zipArchive }
    switch bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return try json(bytes, password)
    case UInt8(ascii: "<"):
      return try PSKCContainer(parsing: bytes, key: password.map { .password($0) }).imported()
    default: break
    }
    if let text = String(validating: bytes, as: UTF8.self), text.contains("://") { return try uris(text) }
    guard AndOTPFile.canBeEncrypted(bytes) else { throw .unknownFormat }
    guard let password else { throw .passwordNeeded(.andOTP) }
    return try AndOTPFile.readEncrypted(bytes, password)
  }

  /// Writes accounts in a format.
  ///
  /// - Parameters:
  ///   - accounts: The accounts to write.
  ///   - format: The format of the file.
  ///   - password: The password that encrypts the file; `nil` for plain text.
  ///   - random: The source of salts, keys and ids.
  /// - Returns: The file and the accounts that the format cannot represent.
  /// - Throws: ``InterchangeFailure/unsupportedEncryption(_:reason:)`` for a password if the format has no encryption.
  public static func write(
    _ accounts: [OTPAccount], as format: InterchangeFormat, password: SharedSecretBox? = nil,
    random: some RandomSource = SystemRandomSource()
  ) throws(InterchangeFailure) -> Written {
    if password != nil, !format.canBeEncrypted {
      throw .unsupportedEncryption(format, reason: "it has no encryption; write it without a password")
    }
    var writer = Collector(accounts)
    var bytes: [UInt8] = []
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    switch format {
    case .otpauth:
      let lines = writer.entries { (account) throws(InterchangeFailure) in try account.insecureURI() + "\n" }
      bytes = Array(lines.joined().utf8)
    case .google:
      let uris = MigrationBatch.insecureURIs(of: &writer, random: random)
      bytes = Array(uris.map { $0 + "\n" }.joined().utf8)
    case .aegis: bytes = try AegisFile.write(&writer, password, random)
    case .twoFAS: bytes = try TwoFASFile.write(&writer, password, random)
    case .andOTP: bytes = try AndOTPFile.write(&writer, password, random)
    case .freeOTP: bytes = FreeOTPFile.write(&writer)
    case .pskc:
      let keys = writer.entries { (account) throws(InterchangeFailure) in try PSKCKey(account) }
      bytes = try PSKCContainer(keys: keys).insecureBytes(
        encryptedUnder: password.map { .password($0) }, random: random)
    case .raivo: throw .notRepresentable(.raivo, reason: "accounts: it is supported for import only")
    }
    return Written(
      contents: SharedSecretBox(SecretBytes(copying: bytes)), skipped: writer.skipped,
      count: accounts.count - writer.skipped.count)
  }

  private static func json(
    _ bytes: [UInt8], _ password: SharedSecretBox?
  ) throws(InterchangeFailure) -> ImportedAccounts {
    let value: JSONValue
    do throws(JSONFailure) { value = try JSONValue(parsing: bytes, limits: limits) } catch {
      throw .json(error)
    }
    switch value {
    case .array(let entries) where RaivoFile.matches(entries): return try RaivoFile.read(entries)
    case .array(let entries) where AndOTPFile.matches(entries): return try AndOTPFile.read(entries)
    case .object(let object) where object.contains("header") && object.contains("db"):
      return try AegisFile.read(object, password)
    case .object(let object) where object.contains("services"): return try TwoFASFile.read(object, password)
    case .object(let object) where object.contains("tokens"): return try FreeOTPFile.read(object)
    default: throw .unknownFormat
    }
  }

  private static func uris(_ text: String) throws(InterchangeFailure) -> ImportedAccounts {
    let lines = text.split(whereSeparator: \.isNewline).map(\.trimmed)
      .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    var imported = ImportedAccounts(lines.allSatisfy(MigrationBatch.isMigration) ? .google : .otpauth)
    var batches: [MigrationBatch] = []
    for line in lines {
      if MigrationBatch.isMigration(line) {
        batches.append(try MigrationBatch(line))
      } else {
        // Only the part before the query: the rest may contain a secret.
        try imported.read(title: String(line.prefix { $0 != "?" }.prefix(80))) {
          () throws(InterchangeFailure) in try OTPAccount(uri: line)
        }
      }
    }
    try imported.append(MigrationBatch.joined(batches))
    return imported
  }

  /// An iteration over accounts that collects those that the format cannot represent.
  struct Collector {
    private let accounts: [OTPAccount]
    private(set) var skipped: [SkippedAccount] = []

    init(_ accounts: [OTPAccount]) { self.accounts = accounts }

    /// Converts each account to an entry, and skips an account whose conversion throws.
    mutating func entries<Entry>(
      _ entry: (OTPAccount) throws(InterchangeFailure) -> Entry
    ) -> [Entry] {
      var entries: [Entry] = []
      for (index, account) in accounts.enumerated() {
        do throws(InterchangeFailure) { entries.append(try entry(account)) } catch {
          skipped.append(.init(position: index + 1, title: account.description, reason: error))
        }
      }
      return entries
    }
  }
}
