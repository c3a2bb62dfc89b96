public import SignetCrypto

/// A key of a PSKC document: a token with its parameters (RFC 6030 section 4).
public struct PSKCKey: Sendable {
  /// The name of the key in the document.
  public var id: String?
  /// What the key is for: a URN such as ``hotp``.
  public var algorithm: String
  /// Who issued it.
  public var issuer: String?
  /// What people call it.
  public var friendlyName: String?
  /// Whose key it is: a distinguished name or whatever the issuer uses.
  public var userID: String?
  /// Whose device it is.
  public var deviceUserID: String?
  /// Who made the device.
  public var manufacturer: String?
  /// The serial number of the device.
  public var serialNumber: String?
  /// The model of the device.
  public var model: String?
  /// The part of the device that holds the key.
  public var cryptoModule: String?
  /// The secret; `nil` where the document names it only.
  public var secret: SharedSecretBox?
  /// Whether the secret stood in plain text in a document that is encrypted: nothing shows who wrote it there.
  public internal(set) var isPlainAmongEncrypted = false
  /// The counter.
  public var counter: UInt64?
  /// The time of the device, as the document says it; codes are made from 1970 on.
  public var time: Int64?
  /// The seconds of a period.
  public var timeInterval: Int?
  /// The drift of the device's clock, in periods.
  public var timeDrift: Int?
  /// The digits of a code.
  public var responseLength: Int?
  /// How a code is written: `DECIMAL`.
  public var responseEncoding: String?
  /// Whether a check digit follows each code.
  public var hasCheckDigits = false
  /// How a challenge is written: `DECIMAL`, `HEXADECIMAL` or `ALPHANUMERIC`.
  public var challengeEncoding: String?
  /// The least characters of a challenge.
  public var challengeMinimum: Int?
  /// The most characters of a challenge.
  public var challengeMaximum: Int?
  /// Whether a challenge ends with a check digit.
  public var hasChallengeCheckDigits = false
  /// What the algorithm is made of, such as `HMAC-SHA256`, or the suite of OCRA.
  public var suite: String?
  /// From when on the key is good, as the document says it.
  public var startDate: String?
  /// Until when the key is good, as the document says it.
  public var expiryDate: String?

  /// The algorithm of HOTP (RFC 6030 section 10.1).
  public static let hotp = "urn:ietf:params:xml:ns:keyprov:pskc:hotp"
  /// The algorithm of TOTP.
  public static let totp = "urn:ietf:params:xml:ns:keyprov:pskc:totp"
  /// The algorithm of OCRA, whose suite is in ``suite``.
  public static let ocra = "urn:ietf:params:xml:ns:keyprov:pskc:ocra"

  /// A key with nothing but an algorithm and a secret.
  ///
  /// - Parameters:
  ///   - algorithm: ``hotp``, ``totp``, ``ocra`` or another URN.
  ///   - secret: The secret.
  public init(algorithm: String, secret: SharedSecretBox?) {
    (self.algorithm, self.secret) = (algorithm, secret)
  }
}

extension PSKCKey: CustomStringConvertible, CustomReflectable {
  /// The serial number or name; never the secret.
  public var description: String { serialNumber ?? friendlyName ?? id ?? "PSKC key" }

  /// No parts, so that a dump does not show a secret.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension OTPAccount {
  /// The account of a key.
  ///
  /// - Parameter key: A key for HOTP, TOTP or OCRA.
  /// - Throws: ``InterchangeFailure``: `unsupportedType` for another one, such as a PIN; `notEncrypted`.
  public init(_ key: PSKCKey) throws(InterchangeFailure) {
    guard !key.isPlainAmongEncrypted else { throw .notEncrypted }
    guard let secret = key.secret else { throw .missing("secret: the document only names it") }
    let kind: Kind
    switch key.kindName {
    case "hotp": kind = .hotp(counter: key.counter ?? 0)
    case "totp": kind = .totp(period: key.timeInterval ?? 30)
    case "ocra": kind = try key.challengeKind()
    default: throw .unsupportedType(String(key.algorithm.suffix(40)))
    }
    var (encoding, answersChallenges) = ("decimal", false)
    if case .ocra(let suite, _, _) = kind {
      (encoding, answersChallenges) = (InterchangeText.lowercased(suite.responseEncoding), true)
    }
    guard InterchangeText.lowercased(key.responseEncoding ?? encoding) == encoding else {
      throw .invalid("response", reason: "is not written in \(encoding) digits")
    }
    var foreign: [ForeignMember] = []
    for (name, path) in PSKCKey.foreignMembers where !(answersChallenges && name == "Suite") {
      guard let value = key[keyPath: path] else { continue }
      foreign.append(ForeignMember(format: .pskc, name: name, value: value))
    }
    let names = [key.friendlyName, key.userID, key.deviceUserID, key.serialNumber, key.id]
    try self.init(
      issuer: key.issuer ?? key.manufacturer ?? "", name: names.compactMap(\.self).first ?? "", kind: kind,
      algorithm: answersChallenges ? .sha1 : try key.hash(), digits: key.responseLength ?? 6,
      hasCheckDigit: key.hasCheckDigits, secret: secret, foreign: foreign)
  }
}

extension PSKCKey {
  /// The key of an account.
  ///
  /// - Parameter account: The account.
  /// - Throws: ``InterchangeFailure/notRepresentable(_:reason:)``.
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
      take(ocra, lengths: lengths)
    } else {
      if account.algorithm != .sha1 { suite = suite ?? "HMAC-\(account.algorithm.rawValue)" }
      (responseLength, responseEncoding) = (account.digits, "DECIMAL")
      hasCheckDigits = account.hasCheckDigit
    }
    issuer = account.issuer.isEmpty ? nil : account.issuer
    let others = [userID, deviceUserID, serialNumber, id]
    // The name is one of these already where the account came from such a document.
    if others.compactMap(\.self).first != account.name { friendlyName = account.name }
  }

  /// What an account keeps of a key.
  static var foreignMembers: [(name: String, path: WritableKeyPath<PSKCKey, String?>)] {
    [
      ("Id", \.id), ("UserId", \.userID), ("DeviceUserId", \.deviceUserID), ("Manufacturer", \.manufacturer),
      ("SerialNo", \.serialNumber), ("Model", \.model), ("CryptoModuleId", \.cryptoModule),
      ("Suite", \.suite),
      ("StartDate", \.startDate), ("ExpiryDate", \.expiryDate),
    ]
  }

  /// The last part of the algorithm, which is one of several prefixes away.
  fileprivate var kindName: String {
    InterchangeText.lowercased(algorithm.split { $0 == ":" || $0 == "#" }.last ?? "")
  }

  fileprivate func hash() throws(InterchangeFailure) -> OATHAlgorithm {
    guard let suite, !suite.isEmpty else { return .sha1 }
    let name = InterchangeText.lowercased(suite).filter { $0 != "-" && $0 != "_" }
    // Longer names first: a shorter one may be a part of them.
    for algorithm in OATHAlgorithm.allCases.sorted(by: { $0.rawValue.utf8.count > $1.rawValue.utf8.count })
    where name.contains(algorithm.rawValue.lowercased()) { return algorithm }
    throw .unsupportedAlgorithm(String(suite.prefix(40)))
  }
}
