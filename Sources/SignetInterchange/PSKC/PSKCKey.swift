public import SignetCrypto
import SignetOATH

/// A key of a PSKC document: a token with its parameters (RFC 6030 section 4).
public struct PSKCKey: Sendable {
  /// The id of the key in the document.
  public var id: String?
  /// The purpose of the key: a URN such as ``hotp``.
  public var algorithm: String
  /// The issuer of the key.
  public var issuer: String?
  /// The name for users.
  public var friendlyName: String?
  /// The owner of the key: a distinguished name or the issuer's own identifier.
  public var userID: String?
  /// The owner of the device.
  public var deviceUserID: String?
  /// The manufacturer of the device.
  public var manufacturer: String?
  /// The serial number of the device.
  public var serialNumber: String?
  /// The model of the device.
  public var model: String?
  /// The part of the device that holds the key.
  public var cryptoModule: String?
  /// The secret; `nil` if the document contains only its name.
  public var secret: SharedSecretBox?
  /// Indicates whether the secret is in plain text in an encrypted document: nothing authenticates it.
  public internal(set) var isPlainAmongEncrypted = false
  /// The moving counter, as in the document.
  public var counter: UInt64?
  /// The time value of the document; it is kept and does not affect codes, which count from 1970.
  public var time: Int64?
  /// The period, in seconds.
  public var timeInterval: Int?
  /// The drift of the device's clock, in periods.
  public var timeDrift: Int?
  /// The number of characters of a code.
  public var responseLength: Int?
  /// The encoding of a code: `DECIMAL`.
  public var responseEncoding: String?
  /// Indicates whether a check digit follows each code.
  public var hasCheckDigits = false
  /// The encoding of a challenge: `DECIMAL`, `HEXADECIMAL` or `ALPHANUMERIC`.
  public var challengeEncoding: String?
  /// The shortest challenge, in characters.
  public var challengeMinimum: Int?
  /// The longest challenge, in characters.
  public var challengeMaximum: Int?
  /// Indicates whether a challenge ends with a check digit.
  public var hasChallengeCheckDigits = false
  /// The algorithm suite, such as `HMAC-SHA256`, or the suite of OCRA.
  public var suite: String?
  /// The start of the key's validity, as written in the document.
  public var startDate: String?
  /// The end of the key's validity, as written in the document.
  public var expiryDate: String?

  /// The algorithm of HOTP (RFC 6030 section 10.1).
  public static let hotp = "urn:ietf:params:xml:ns:keyprov:pskc:hotp"
  /// The algorithm of TOTP.
  public static let totp = "urn:ietf:params:xml:ns:keyprov:pskc:totp"
  /// The algorithm of OCRA; ``suite`` contains the OCRA suite.
  public static let ocra = "urn:ietf:params:xml:ns:keyprov:pskc:ocra"

  /// Creates a key that has only an algorithm and a secret.
  ///
  /// - Parameters:
  ///   - algorithm: ``hotp``, ``totp``, ``ocra`` or another URN.
  ///   - secret: The secret.
  public init(algorithm: String, secret: SharedSecretBox?) {
    (self.algorithm, self.secret) = (algorithm, secret)
  }
}

extension PSKCKey: CustomStringConvertible, CustomReflectable {
  /// The serial number, name or id; never the secret.
  public var description: String { serialNumber ?? friendlyName ?? id ?? "PSKC key" }

  /// An empty mirror, so that a dump does not show a secret.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension OTPAccount {
  /// Converts a key to an account.
  ///
  /// - Parameter key: A key for HOTP, TOTP or OCRA.
  /// - Throws: ``InterchangeFailure``: `unsupportedType` for any other key, such as a PIN; `notEncrypted` if
  ///   ``PSKCKey/isPlainAmongEncrypted``.
  public init(_ key: PSKCKey) throws(InterchangeFailure) {
    guard !key.isPlainAmongEncrypted else { throw .notEncrypted }
    guard let secret = key.secret else { throw .missing("secret: the document only refers to it") }
    let kind: Kind
    switch key.kindName {
    case "hotp": kind = .hotp(counter: key.counter ?? 0)
    case "totp": kind = .totp(period: key.timeInterval ?? 30)
    case "ocra": kind = try key.challengeKind()
    default: throw .unsupportedType(String(key.algorithm.suffix(40)))
    }
    var (encoding, isOCRA) = ("decimal", false)
    if case .ocra(let suite, _, _) = kind {
      (encoding, isOCRA) = (InterchangeText.lowercased(suite.responseEncoding), true)
    }
    guard InterchangeText.lowercased(key.responseEncoding ?? encoding) == encoding else {
      throw .invalid("response", reason: "is not written in \(encoding) digits")
    }
    var foreign: [ForeignMember] = []
    for (name, path) in PSKCKey.foreignMembers where !(isOCRA && name == "Suite") {
      guard let value = key[keyPath: path] else { continue }
      foreign.append(ForeignMember(format: .pskc, name: name, value: value))
    }
    let names = [key.friendlyName, key.userID, key.deviceUserID, key.serialNumber, key.id]
    try self.init(
      issuer: key.issuer ?? key.manufacturer ?? "", name: names.compactMap(\.self).first ?? "", kind: kind,
      algorithm: isOCRA ? .sha1 : try key.hash(), digits: key.responseLength ?? 6,
      hasCheckDigit: key.hasCheckDigits, secret: secret, foreign: foreign)
  }
}

extension PSKCKey {
  /// Converts an account to a key.
  ///
  /// - Parameter account: The account.
  /// - Throws: ``InterchangeFailure/notRepresentable(_:reason:)`` for a TOTP account whose start is not 0.
  public init(_ account: OTPAccount) throws(InterchangeFailure) {
    switch account.kind {
    case .hotp(let counter):
      self.init(algorithm: Self.hotp, secret: account.secret)
      self.counter = counter
    case .totp(let period, let start):
      guard start == 0 else { throw .notRepresentable(.pskc, reason: "when the first period began (T0)") }
      self.init(algorithm: Self.totp, secret: account.secret)
      (timeInterval, time) = (period, 0)
    case .ocra:
      self.init(algorithm: Self.ocra, secret: account.secret)
      counter = account.kind.counter
    }
    for member in account.foreign where member.format == .pskc {
      guard let path = Self.foreignMembers.first(where: { $0.name == member.name })?.path else { continue }
      self[keyPath: path] = member.value
    }
    if case .ocra(let ocra, let lengths, _) = account.kind {
      setParameters(of: ocra, lengths: lengths)
    } else {
      if account.algorithm != .sha1 { suite = suite ?? "HMAC-\(account.algorithm.rawValue)" }
      (responseLength, responseEncoding) = (account.digits, "DECIMAL")
      hasCheckDigits = account.hasCheckDigit
    }
    issuer = account.issuer.isEmpty ? nil : account.issuer
    let others = [userID, deviceUserID, serialNumber, id]
    // An account from a PSKC document may have its name from one of these already.
    if others.compactMap(\.self).first != account.name { friendlyName = account.name }
  }

  /// The members of a key that an account keeps as ``ForeignMember``.
  static var foreignMembers: [(name: String, path: WritableKeyPath<PSKCKey, String?>)] {
    [
      ("Id", \.id), ("UserId", \.userID), ("DeviceUserId", \.deviceUserID), ("Manufacturer", \.manufacturer),
      ("SerialNo", \.serialNumber), ("Model", \.model), ("CryptoModuleId", \.cryptoModule),
      ("Suite", \.suite),
      ("StartDate", \.startDate), ("ExpiryDate", \.expiryDate),
    ]
  }

  /// The last part of the algorithm's URN: documents use several prefixes.
  fileprivate var kindName: String {
    InterchangeText.lowercased(algorithm.split { $0 == ":" || $0 == "#" }.last ?? "")
  }

  fileprivate func hash() throws(InterchangeFailure) -> OATHAlgorithm {
    guard let suite, !suite.isEmpty else { return .sha1 }
    let name = InterchangeText.lowercased(suite).filter { $0 != "-" && $0 != "_" }
    // Longer names first, because a shorter one may be a part of them.
    for algorithm in OATHAlgorithm.allCases.sorted(by: { $0.rawValue.utf8.count > $1.rawValue.utf8.count })
    where name.contains(algorithm.rawValue.lowercased()) { return algorithm }
    throw .unsupportedAlgorithm(String(suite.prefix(40)))
  }
}
