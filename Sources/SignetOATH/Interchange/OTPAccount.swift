public import SignetCrypto
import SignetText

/// An account of one-time codes, or of answers to challenges, as authenticators exchange it.
///
/// It may come from anywhere: ``init(issuer:name:kind:algorithm:digits:hasCheckDigit:secret:image:foreign:)`` checks all
/// of it.
public struct OTPAccount: Sendable {
  /// What a code is made from beside the secret.
  public enum Kind: Sendable, Hashable {
    /// A counter (RFC 4226); it is the one of the next code.
    case hotp(counter: UInt64)
    /// The time (RFC 6238): the seconds of a period, and when counter 0 began, in seconds since 1970.
    case totp(period: Int, start: Int64 = 0)
    /// A challenge (RFC 6287): the characters that the key takes, `nil` for what the suite allows, and the counter of the
    /// next answer, 0 where the suite has none.
    case ocra(OCRASuite, lengths: ClosedRange<Int>? = nil, counter: UInt64 = 0)

    /// The counter of the next code or answer; `nil` where none enters it.
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
  /// The most members that an account takes along from where it comes.
  public static let maximumForeignMemberCount = 64
  /// The most bytes of UTF-8 that these have, names and values.
  public static let maximumForeignByteCount = 64 * 1024
  /// The longest secret, in bytes.
  public static let maximumSecretByteCount = 1024

  /// Who the account is with; may be empty.
  public let issuer: String
  /// Whose account it is, at the issuer; may be empty where the issuer is not.
  public let name: String
  /// What a code is made from beside the secret.
  public internal(set) var kind: Kind
  /// The hash function; the suite's where there is one.
  public let algorithm: OATHAlgorithm
  /// The length of a code, in ``HOTP/allowedDigits``; the suite's where there is one.
  public let digits: Int
  /// Whether a check digit follows each code (RFC 4226 appendix C), which ``digits`` does not count.
  public let hasCheckDigit: Bool
  /// The secret.
  public let secret: SharedSecretBox
  /// Where a picture of the issuer is; text from outside, never fetched here.
  public let image: String?
  /// What the place that it comes from says beside that, kept to be written there again.
  public let foreign: [ForeignMember]

  /// Checks an account.
  ///
  /// White space around issuer and name is dropped.
  ///
  /// - Parameters:
  ///   - issuer: Who the account is with.
  ///   - name: Whose account it is.
  ///   - kind: What a code is made from beside the secret.
  ///   - algorithm: The hash function; where there is a suite, its own counts.
  ///   - digits: The length of a code; where there is a suite, its own counts.
  ///   - hasCheckDigit: Whether a check digit follows; only for HOTP.
  ///   - secret: 1 to 1024 bytes.
  ///   - image: Where a picture is.
  ///   - foreign: What else the place that it comes from says.
  /// - Throws: ``InterchangeFailure`` that names what is out of bounds.
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
    (self.issuer, self.name, self.kind, self.hasCheckDigit) = (issuer, name, kind, hasCheckDigit)
    (self.secret, self.image, self.foreign) = (secret, image, foreign)
  }

  /// Bounds what is taken along: it is kept with the account, and read with it each time.
  private static func check(_ foreign: [ForeignMember]) throws(InterchangeFailure) {
    guard foreign.count <= maximumForeignMemberCount else {
      throw .invalid(
        "account", reason: "has more than \(maximumForeignMemberCount) members that mean nothing here")
    }
    let count = foreign.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    guard count <= maximumForeignByteCount else {
      throw .tooLarge("members that mean nothing here", limit: maximumForeignByteCount)
    }
    for member in foreign { try InterchangeText.check(member.name, "name of a member", limit: 256) }
  }

  /// Checks what a code is made from.
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
        throw .invalid("counter", reason: "has no place in the suite")
      }
    }
    guard !hasCheckDigit else {
      throw .invalid("check digit", reason: "goes with codes by a counter only")
    }
  }

  /// Makes the codes of this account, where they go by a counter.
  ///
  /// - Throws: ``OATHFailure``, which the checks leave nothing for.
  public func hotp() throws(OATHFailure) -> HOTP {
    try secret.withSecret { (secret) throws(OATHFailure) in
      try HOTP(secret: secret, algorithm: algorithm, digits: digits, addsChecksum: hasCheckDigit)
    }
  }

  /// Whether another account has the same secret and makes the same codes, whatever it is called.
  ///
  /// The counter, the lengths of challenges and what the place it comes from says do not matter.
  ///
  /// - Parameter other: The other account.
  /// - Returns: Whether they are one.
  public func makesSameCodes(as other: OTPAccount) -> Bool {
    parameters == other.parameters
      && secret.withSecret { one in other.secret.withSecret { one.isEqual(to: $0) } }
  }

  private var parameters: CodeSource.Parameters {
    let bare: Kind =
      switch kind {
      case .hotp: .hotp(counter: 0)
      case .totp: kind
      case .ocra(let suite, _, _): .ocra(suite)
      }
    return CodeSource.Parameters(
      kind: bare, algorithm: algorithm, digits: digits, hasCheckDigit: hasCheckDigit)
  }

  /// Refuses what only PSKC and, of hash functions, URIs can say.
  func requireCommonCodes(_ format: InterchangeFormat) throws(InterchangeFailure) {
    if case .ocra = kind { throw .notRepresentable(format, reason: "answers to challenges (OCRA)") }
    if !algorithm.isStandard, format != .otpauth {
      throw .notRepresentable(format, reason: "the algorithm \(algorithm.rawValue)")
    }
    if hasCheckDigit { throw .notRepresentable(format, reason: "a check digit") }
  }

  /// What two accounts that make the same codes have in common, for looking one up among many.
  ///
  /// - Parameter key: A key for this comparison only, so that what is kept says nothing of the secret.
  /// - Returns: The same for accounts of which ``makesSameCodes(as:)`` holds, and another for others.
  package func codeSource(under key: HMACKey) -> CodeSource {
    CodeSource(
      parameters: parameters,
      digest: secret.withSecret { $0.withBytes { key.authenticationCode(for: $0) } })
  }
}

/// What an account makes its codes from, with a keyed digest in the place of the secret.
package struct CodeSource: Hashable, Sendable {
  fileprivate struct Parameters: Hashable, Sendable {
    let kind: OTPAccount.Kind
    let algorithm: OATHAlgorithm
    let digits: Int
    let hasCheckDigit: Bool
  }

  fileprivate let parameters: Parameters
  fileprivate let digest: [UInt8]
}

/// What a file or URI says of an account that has no meaning here, kept so that it can be written there again.
public struct ForeignMember: Sendable, Hashable {
  /// Where it was found, and may be written again.
  public let format: InterchangeFormat
  /// What it is called there; in JSON, the names on the way to it with dots between.
  public let name: String
  /// Its value: text in a URI and in XML, JSON in JSON.
  public let value: String

  /// Names all parts.
  public init(format: InterchangeFormat, name: String, value: String) {
    (self.format, self.name, self.value) = (format, name, value)
  }
}

extension OTPAccount: CustomStringConvertible, CustomReflectable {
  /// Issuer and name; never the secret.
  public var description: String { issuer.isEmpty ? name : name.isEmpty ? issuer : "\(issuer) (\(name))" }

  /// No parts, so that a dump does not show what came from elsewhere.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
