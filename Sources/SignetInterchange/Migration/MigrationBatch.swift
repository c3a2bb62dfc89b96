public import SignetCrypto
import SignetOATH
import SignetSystem

/// One QR code of a Google Authenticator export: `otpauth-migration://offline?data=…`.
public struct MigrationBatch: Sendable {
  /// The longest accepted URI, in bytes.
  public static let maximumByteCount = 65_536
  /// The largest number of QR codes in one export.
  public static let maximumCount = 1000
  /// The largest size of the accounts in one written QR code, in bytes: a camera can still read it.
  static let exportByteCount = 600

  /// The id of the export.
  public let id: Int32
  /// The index of the QR code in the export, from 0.
  public let index: Int
  /// The number of QR codes in the export.
  public let count: Int
  /// The accounts in this QR code and the skipped ones.
  public let content: ImportedAccounts

  /// Indicates whether a text begins like a migration URI.
  ///
  /// - Parameter text: Any text.
  /// - Returns: True if its scheme is `otpauth-migration`.
  public static func isMigration(_ text: String) -> Bool {
    InterchangeText.lowercased(text.prefix(64).trimmed).hasPrefix("otpauth-migration:")
  }

  /// Parses a URI.
  ///
  /// - Parameter text: The URI.
  /// - Throws: ``InterchangeFailure`` if the URI or its message is malformed.
  public init(_ text: String) throws(InterchangeFailure) {
    guard text.utf8.count <= Self.maximumByteCount else {
      throw .tooLarge("URI", limit: Self.maximumByteCount)
    }
    guard Self.isMigration(text) else { throw .notURI }
    guard let dataRange = text.firstRange(of: "data=") else { throw .missing("data") }
    let value = text[dataRange.upperBound...].prefix { $0 != "&" }
    // An unescaped plus sign may have become a space in transit.
    let base64 = (try PercentEncoding.decode(value)).trimmed.map { $0 == " " ? "+" : $0 }
    guard let bytes = InterchangeText.base64(String(base64)) else {
      throw .invalid("data", reason: "is not Base64")
    }
    try self.init(message: bytes)
  }

  private init(message: [UInt8]) throws(InterchangeFailure) {
    var content = ImportedAccounts(.google)
    var (id, index, count): (UInt64, UInt64, UInt64) = (0, 0, 0)
    var reader = ProtocolBuffer.Reader(message[...])
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let bytes)):
        var title = ""
        try content.read(title: title) { () throws(InterchangeFailure) in
          let parameters = try Parameters(bytes)
          title = parameters.name.isEmpty ? parameters.issuer : parameters.name
          return try parameters.account()
        }
      case (3, .varint(let value)): count = value
      case (4, .varint(let value)): index = value
      case (5, .varint(let value)): id = value
      default: break
      }
    }
    guard count <= UInt64(Self.maximumCount), index < max(count, 1) else {
      throw .invalid("data", reason: "counts its QR codes wrongly")
    }
    self.id = Int32(truncatingIfNeeded: id)
    self.index = Int(index)
    self.count = max(Int(count), 1)
    self.content = content
  }

  /// Joins the QR codes of one or more exports.
  ///
  /// - Parameter batches: The QR codes in any order; a QR code that was scanned twice counts once.
  /// - Returns: The accounts of all of them, in order.
  /// - Throws: ``InterchangeFailure/incompleteBatch(missing:of:)``, ``InterchangeFailure/inconsistentBatch``.
  public static func joined(_ batches: [MigrationBatch]) throws(InterchangeFailure) -> ImportedAccounts {
    var (order, exports): ([Int32], [Int32: [Int: MigrationBatch]]) = ([], [:])
    for batch in batches {
      if exports[batch.id] == nil { order.append(batch.id) }
      if let present = exports[batch.id]?.values.first, present.count != batch.count {
        throw .inconsistentBatch
      }
      if let same = exports[batch.id]?[batch.index], !same.hasSameAccounts(as: batch) {
        throw .inconsistentBatch
      }
      exports[batch.id, default: [:]][batch.index] = batch
    }
    var content = ImportedAccounts(.google)
    for id in order {
      guard let parts = exports[id], let count = parts.values.first?.count else { continue }
      let missing = (0..<count).filter { parts[$0] == nil }.map { $0 + 1 }
      guard missing.isEmpty else { throw .incompleteBatch(missing: missing, of: count) }
      for index in 0..<count {
        guard let part = parts[index] else { continue }
        try content.append(part.content)
      }
    }
    return content
  }

  private func hasSameAccounts(as other: MigrationBatch) -> Bool {
    content.accounts.count == other.content.accounts.count && content.skipped == other.content.skipped
      && zip(content.accounts, other.content.accounts).allSatisfy {
        $0.issuer == $1.issuer && $0.name == $1.name && $0.makesSameCodes(as: $1)
      }
  }

  /// Writes accounts as URIs, one for each QR code; the secrets are in strings that cannot be wiped.
  ///
  /// - Parameters:
  ///   - accounts: The accounts to write.
  ///   - random: The source of the export's id.
  /// - Returns: The URIs and the accounts that the format cannot represent.
  public static func insecureURIs(
    of accounts: [OTPAccount], random: some RandomSource = SystemRandomSource()
  ) -> (uris: [String], skipped: [SkippedAccount]) {
    var writer = AccountFile.Collector(accounts)
    let uris = insecureURIs(of: &writer, random: random)
    return (uris, writer.skipped)
  }

  static func insecureURIs(of writer: inout AccountFile.Collector, random: some RandomSource) -> [String] {
    var groups: [[[UInt8]]] = [[]]
    let messages = writer.entries { (account) throws(InterchangeFailure) in try Parameters.message(account) }
    for message in messages {
      let size = groups[groups.count - 1].reduce(message.count) { $0 + $1.count }
      if size > exportByteCount, !groups[groups.count - 1].isEmpty { groups.append([]) }
      groups[groups.count - 1].append(message)
    }
    groups.removeAll { $0.isEmpty }
    let id = random.bytes(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & 0x7FFF_FFFF
    return groups.enumerated().map { index, messages in
      var writer = ProtocolBuffer.Writer()
      for message in messages { writer.add(1, message) }
      writer.add(2, 1)
      writer.add(3, UInt64(groups.count))
      writer.add(4, UInt64(index))
      writer.add(5, id)
      return "otpauth-migration://offline?data=\(PercentEncoding.encode(Base64.encode(writer.bytes)))"
    }
  }
}

private struct Parameters {
  /// The hash functions of the message format; 4 is MD5, which is unsupported.
  private static let algorithms: [(number: UInt64, algorithm: OATHAlgorithm)] = [
    (1, .sha1), (2, .sha256), (3, .sha512),
  ]

  var secret: ArraySlice<UInt8> = []
  var name = ""
  var issuer = ""
  var algorithm: UInt64 = 0
  var digits: UInt64 = 0
  var type: UInt64 = 0
  var counter: UInt64 = 0
  var unknown: [UInt64] = []

  init(_ bytes: ArraySlice<UInt8>) throws(InterchangeFailure) {
    var reader = ProtocolBuffer.Reader(bytes)
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let bytes)): secret = bytes
      case (2, .bytes(let bytes)): name = try Self.text(bytes)
      case (3, .bytes(let bytes)): issuer = try Self.text(bytes)
      case (4, .varint(let value)): algorithm = value
      case (5, .varint(let value)): digits = value
      case (6, .varint(let value)): type = value
      case (7, .varint(let value)): counter = value
      default: unknown.append(field.number)
      }
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) throws(InterchangeFailure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    return text
  }

  func account() throws(InterchangeFailure) -> OTPAccount {
    // 0 is the value of an omitted field.
    let number = algorithm == 0 ? 1 : algorithm
    guard let hash = Self.algorithms.first(where: { $0.number == number })?.algorithm else {
      throw .unsupportedAlgorithm(number == 4 ? "MD5" : "number \(number)")
    }
    guard digits <= 2 else { throw .invalid("digits", reason: "have the unknown code \(digits)") }
    let kind: OTPAccount.Kind
    switch type {
    case 0, 2: kind = .totp(period: 30)
    case 1: kind = .hotp(counter: counter)
    default: throw .unsupportedType("number \(type)")
    }
    var accountName = name.trimmed
    var issuer = self.issuer.trimmed
    // The name is a label and may begin with the issuer.
    if !issuer.isEmpty, accountName.utf8.starts(with: "\(issuer):".utf8) {
      accountName = String(decoding: accountName.utf8.dropFirst(issuer.utf8.count + 1), as: UTF8.self).trimmed
    } else if issuer.isEmpty, let colon = accountName.firstIndex(of: ":") {
      issuer = accountName[..<colon].trimmed
      accountName = accountName[accountName.index(after: colon)...].trimmed
    }
    return try OTPAccount(
      issuer: issuer, name: accountName, kind: kind, algorithm: hash, digits: digits == 2 ? 8 : 6,
      secret: SharedSecretBox(SecretBytes(copying: Array(secret))))
  }

  static func message(_ account: OTPAccount) throws(InterchangeFailure) -> [UInt8] {
    try account.requireCommonCodes(.google)
    var writer = ProtocolBuffer.Writer()
    account.secret.withSecret { writer.add(1, $0.insecureCopy()) }
    let needsIssuer = !account.issuer.isEmpty || account.name.contains(":")
    writer.add(2, Array((needsIssuer ? "\(account.issuer):\(account.name)" : account.name).utf8))
    if !account.issuer.isEmpty { writer.add(3, Array(account.issuer.utf8)) }
    guard let number = algorithms.first(where: { $0.algorithm == account.algorithm })?.number else {
      throw .notRepresentable(.google, reason: "the algorithm \(account.algorithm.rawValue)")
    }
    writer.add(4, number)
    switch account.digits {
    case 6: writer.add(5, 1)
    case 8: writer.add(5, 2)
    default: throw .notRepresentable(.google, reason: "codes of \(account.digits) digits, only of 6 and 8")
    }
    switch account.kind {
    case .totp(30, 0): writer.add(6, 2)
    case .totp: throw .notRepresentable(.google, reason: "a period other than 30 s, or its start")
    case .hotp(let counter):
      writer.add(6, 1)
      guard counter <= UInt64(Int64.max) else {
        throw .notRepresentable(.google, reason: "a counter above 2^63 - 1")
      }
      writer.add(7, counter)
    case .ocra: break  // rejected above
    }
    return writer.bytes
  }
}
