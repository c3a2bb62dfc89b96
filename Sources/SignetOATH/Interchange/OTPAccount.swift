public import SignetCrypto

/// An account of one-time codes, as authenticators exchange it.
///
/// It may come from anywhere: ``init(issuer:name:kind:algorithm:digits:secret:image:foreign:)`` checks all of it.
public struct OTPAccount: Sendable {
  /// What a code is made from beside the secret.
  public enum Kind: Sendable, Hashable {
    /// A counter (RFC 4226); it is the one of the next code.
    case hotp(counter: UInt64)
    /// The time (RFC 6238): the seconds of a period, and when counter 0 began, in seconds since 1970.
    case totp(period: Int, start: Int64 = 0)
  }

  /// The longest issuer, account name and image, each in UTF-8 bytes.
  public static let maximumTextByteCount = 4096
  /// The longest secret, in bytes.
  public static let maximumSecretByteCount = 1024

  /// Who the account is with; may be empty.
  public let issuer: String
  /// Whose account it is, at the issuer; may be empty where the issuer is not.
  public let name: String
  /// What a code is made from beside the secret.
  public internal(set) var kind: Kind
  /// The hash function.
  public let algorithm: OATHAlgorithm
  /// The length of a code, in ``HOTP/allowedDigits``.
  public let digits: Int
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
  ///   - algorithm: The hash function.
  ///   - digits: The length of a code.
  ///   - secret: 1 to 1024 bytes.
  ///   - image: Where a picture is.
  ///   - foreign: What else the place that it comes from says.
  /// - Throws: ``InterchangeFailure`` that names what is out of bounds.
  public init(
    issuer: String, name: String, kind: Kind, algorithm: OATHAlgorithm = .sha1, digits: Int = 6,
    secret: SharedSecretBox, image: String? = nil, foreign: [ForeignMember] = []
  ) throws(InterchangeFailure) {
    let (issuer, name) = (InterchangeText.trimmed(issuer), InterchangeText.trimmed(name))
    for (member, text) in [("issuer", issuer), ("account", name), ("image", image ?? "")] {
      try InterchangeText.check(text, member)
    }
    guard !(issuer.isEmpty && name.isEmpty) else { throw .missing("issuer and account") }
    guard HOTP.allowedDigits.contains(digits) else { throw .oath(.digitsOutOfRange(digits)) }
    if case .totp(let period, _) = kind, !TOTP.allowedPeriods.contains(period) {
      throw .oath(.periodOutOfRange(period))
    }
    let count = secret.withSecret { $0.byteCount }
    guard count > 0 else { throw .oath(.emptySecret) }
    guard count <= Self.maximumSecretByteCount else {
      throw .tooLarge("secret", limit: Self.maximumSecretByteCount)
    }
    (self.issuer, self.name, self.kind, self.algorithm) = (issuer, name, kind, algorithm)
    (self.digits, self.secret, self.image, self.foreign) = (digits, secret, image, foreign)
  }

  /// Makes the codes of this account, where they go by a counter.
  ///
  /// - Throws: ``OATHFailure``, which the checks leave nothing for.
  public func hotp() throws(OATHFailure) -> HOTP {
    try secret.withSecret { (secret) throws(OATHFailure) in
      try HOTP(secret: secret, algorithm: algorithm, digits: digits)
    }
  }

  /// Whether another account has the same secret and makes the same codes, whatever it is called.
  ///
  /// The counter and what the place it comes from says do not matter.
  ///
  /// - Parameter other: The other account.
  /// - Returns: Whether they are one.
  public func makesSameCodes(as other: OTPAccount) -> Bool {
    parameters == other.parameters
      && secret.withSecret { one in other.secret.withSecret { one.isEqual(to: $0) } }
  }

  private var parameters: CodeSource.Parameters {
    switch kind {
    case .hotp: CodeSource.Parameters(kind: .hotp(counter: 0), algorithm: algorithm, digits: digits)
    case .totp: CodeSource.Parameters(kind: kind, algorithm: algorithm, digits: digits)
    }
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
