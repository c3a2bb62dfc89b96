public import SignetCrypto
public import SignetOATH
import SignetSystem

/// An account for one-time codes or for responses to challenges, as authenticators exchange it.
///
/// ``init(issuer:name:kind:algorithm:digits:hasCheckDigit:secret:image:foreign:)`` validates all of it, because the source
/// is untrusted.
public struct OTPAccount: Sendable {
  /// The moving factor of the codes, in addition to the secret.
  public enum Kind: Sendable, Hashable {
    /// A counter (RFC 4226): that of the next code.
    case hotp(counter: UInt64)
    /// The time (RFC 6238): the period in seconds, and the start of counter 0 in seconds since 1970.
    case totp(period: Int, start: Int64 = 0)
    /// A challenge (RFC 6287).
    ///
    /// `lengths` are the challenge lengths that the key accepts, in characters; `nil` for all that the suite allows.
    /// `counter` is that of the next response; 0 if the suite has none.
    case ocra(OCRASuite, lengths: ClosedRange<Int>? = nil, counter: UInt64 = 0)

    /// The counter of the next code or response; `nil` if the codes do not use one.
    package var counter: UInt64? {
      switch self {
      case .hotp(let counter): counter
      case .totp: nil
      case .ocra(let suite, _, let counter): suite.hasCounter ? counter : nil
      }
    }
  }

  /// The longest issuer, account name and image, each in UTF-8 bytes.
  public static let maximumTextByteCount = 4096
  /// The largest number of foreign members.
  public static let maximumForeignMemberCount = 64
  /// The largest total size of the names and values of foreign members, in bytes of UTF-8.
  public static let maximumForeignByteCount = 64 * 1024
  /// The longest secret, in bytes.
  public static let maximumSecretByteCount = 1024

  /// The service that issued the account; may be empty.
  public let issuer: String
  /// The name of the account at the issuer; may be empty if the issuer is not.
  public let name: String
  /// The moving factor of the codes.
  public internal(set) var kind: Kind
  /// The hash function; for OCRA that of the suite.
  public let algorithm: OATHAlgorithm
  /// The length of a code, in ``HOTP/allowedDigits``; for OCRA that of the suite.
  public let digits: Int
  /// Indicates whether a check digit follows each code (RFC 4226 appendix C); ``digits`` does not include it.
  public let hasCheckDigit: Bool
  /// The secret.
  public let secret: SharedSecretBox
  /// The URL of the issuer's picture: untrusted text, never fetched by this module.
  public let image: String?
  /// The members of the source that Signet does not interpret, kept for an export in the same format.
  public let foreign: [ForeignMember]

  /// Validates an account; white space around issuer and name is dropped.
  ///
  /// - Parameters:
  ///   - issuer: The service that issued the account.
  ///   - name: The name of the account at the issuer.
  ///   - kind: The moving factor of the codes.
  ///   - algorithm: The hash function; ignored for OCRA.
  ///   - digits: The length of a code; ignored for OCRA.
  ///   - hasCheckDigit: True if a check digit follows each code; HOTP only.
  ///   - secret: 1 to 1024 bytes.
  ///   - image: The URL of the issuer's picture.
  ///   - foreign: The members of the source that Signet does not interpret.
  /// - Throws: ``InterchangeFailure`` with the value that is out of range.
  public init(
    issuer: String, name: String, kind: Kind, algorithm: OATHAlgorithm = .sha1, digits: Int = 6,
    hasCheckDigit: Bool = false, secret: SharedSecretBox, image: String? = nil, foreign: [ForeignMember] = []
  ) throws(InterchangeFailure) {
    let (issuer, name) = (issuer.trimmed, name.trimmed)
    for (member, text) in [("issuer", issuer), ("account", name), ("image", image ?? "")] {
      try InterchangeText.check(text, member)
    }
    guard !(issuer.isEmpty && name.isEmpty) else { throw .missing("issuer and account") }
    try Self.check(foreign)
    try Self.check(kind, hasCheckDigit: hasCheckDigit)
    if case .ocra(let suite, _, _) = kind {
      (self.algorithm, self.digits) = (suite.algorithm, suite.digits)
    } else {
      guard HOTP.allowedDigits.contains(digits) else { throw .oath(.digitsOutOfRange(digits)) }
      (self.algorithm, self.digits) = (algorithm, digits)
    }
    let count = secret.withSecret { $0.byteCount }
    guard count > 0 else { throw .oath(.emptySecret) }
    guard count <= Self.maximumSecretByteCount else {
      throw .tooLarge("secret", limit: Self.maximumSecretByteCount)
    }
    self.issuer = issuer
    self.name = name
    self.kind = kind
    self.hasCheckDigit = hasCheckDigit
    self.secret = secret
    self.image = image
    self.foreign = foreign
  }

  /// Limits the foreign members: they are stored with the account and read each time.
  private static func check(_ foreign: [ForeignMember]) throws(InterchangeFailure) {
    guard foreign.count <= maximumForeignMemberCount else {
      throw .invalid(
        "account", reason: "has more than \(maximumForeignMemberCount) unknown members")
    }
    let count = foreign.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    guard count <= maximumForeignByteCount else {
      throw .tooLarge("unknown members", limit: maximumForeignByteCount)
    }
    for member in foreign { try InterchangeText.check(member.name, "name of a member", limit: 256) }
  }

  private static func check(_ kind: Kind, hasCheckDigit: Bool) throws(InterchangeFailure) {
    switch kind {
    case .hotp: return
    case .totp(let period, _):
      guard TOTP.allowedPeriods.contains(period) else { throw .oath(.periodOutOfRange(period)) }
    case .ocra(let suite, let lengths, let counter):
      let allowed = 1...suite.maximumChallengeLength
      if let lengths, !(allowed.contains(lengths.lowerBound) && allowed.contains(lengths.upperBound)) {
        throw .invalid("challenge", reason: "has a length that its suite does not allow")
      }
      guard suite.hasCounter || counter == 0 else {
        throw .invalid("counter", reason: "is not used by the suite")
      }
    }
    guard !hasCheckDigit else {
      throw .invalid("check digit", reason: "is allowed for codes by a counter only")
    }
  }

  /// Returns the code generator of an account with a counter.
  ///
  /// - Throws: ``OATHFailure``; not for a validated account.
  public func hotp() throws(OATHFailure) -> HOTP {
    try secret.withSecret { (secret) throws(OATHFailure) in
      try HOTP(secret: secret, algorithm: algorithm, digits: digits, addsChecksum: hasCheckDigit)
    }
  }

  /// Indicates whether another account makes the same codes with the same secret, even under another name.
  ///
  /// The counter, the challenge lengths and the foreign members are not compared.
  ///
  /// - Parameter other: The other account.
  /// - Returns: True if secret and parameters are equal.
  public func makesSameCodes(as other: OTPAccount) -> Bool {
    parameters == other.parameters
      && secret.withSecret { one in other.secret.withSecret { one.isEqual(to: $0) } }
  }

  private var parameters: OTPAccountFingerprint.Parameters {
    let kindWithoutCounter: Kind =
      switch kind {
      case .hotp: .hotp(counter: 0)
      case .totp: kind
      case .ocra(let suite, _, _): .ocra(suite)
      }
    return OTPAccountFingerprint.Parameters(
      kind: kindWithoutCounter, algorithm: algorithm, digits: digits, hasCheckDigit: hasCheckDigit)
  }

  /// Rejects codes that only PSKC can represent, and hash functions that only URIs and PSKC can.
  func requireCommonCodes(_ format: InterchangeFormat) throws(InterchangeFailure) {
    if case .ocra = kind { throw .notRepresentable(format, reason: "answers to challenges (OCRA)") }
    if !algorithm.isStandard, format != .otpauth {
      throw .notRepresentable(format, reason: "the algorithm \(algorithm.rawValue)")
    }
    if hasCheckDigit { throw .notRepresentable(format, reason: "a check digit") }
  }

  /// Returns a key for finding accounts that make the same codes.
  ///
  /// - Parameter key: A key for this purpose only, so that the stored digests disclose nothing about the secrets.
  /// - Returns: An equal value exactly for accounts for which ``makesSameCodes(as:)`` is true.
  package func fingerprint(under key: HMACKey) -> OTPAccountFingerprint {
    OTPAccountFingerprint(
      parameters: parameters,
      digest: secret.withSecret { $0.withBytes { key.authenticationCode(for: $0) } })
  }
}

/// The parameters of an account's codes, with a keyed digest instead of the secret.
package struct OTPAccountFingerprint: Hashable, Sendable {
  fileprivate struct Parameters: Hashable, Sendable {
    let kind: OTPAccount.Kind
    let algorithm: OATHAlgorithm
    let digits: Int
    let hasCheckDigit: Bool
  }

  fileprivate let parameters: Parameters
  fileprivate let digest: [UInt8]
}

/// A member of a file or URI that Signet does not interpret, kept for an export in the same format.
public struct ForeignMember: Sendable, Hashable {
  /// The format in which it was found and may be written again.
  public let format: InterchangeFormat
  /// The name in that format; in JSON, the path of names with dots between them.
  public let name: String
  /// The value: text in a URI and in XML, JSON text in JSON.
  public let value: String

  /// Creates a member.
  public init(format: InterchangeFormat, name: String, value: String) {
    self.format = format
    self.name = name
    self.value = value
  }
}

extension OTPAccount: CustomStringConvertible, CustomReflectable {
  /// The issuer and name; never the secret.
  public var description: String { issuer.isEmpty ? name : name.isEmpty ? issuer : "\(issuer) (\(name))" }

  /// An empty mirror, so that a dump does not show untrusted text.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
