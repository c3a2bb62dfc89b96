public import SignetCrypto

/// The hash function of a one-time code's HMAC.
public enum OATHAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// SHA-1, used by RFC 4226 and the default of most authenticators.
  case sha1 = "SHA1"
  /// SHA-256 (RFC 6238 section 1.2).
  case sha256 = "SHA256"
  /// SHA-512 (RFC 6238 section 1.2).
  case sha512 = "SHA512"
  /// SHA-224: in no OATH standard, but in accounts of older authenticators.
  case sha224 = "SHA224"
  /// SHA-384: in no OATH standard, but in accounts of older authenticators.
  case sha384 = "SHA384"

  /// Indicates whether RFC 4226 or RFC 6238 specifies it.
  public var isStandard: Bool {
    switch self {
    case .sha1, .sha256, .sha512: true
    case .sha224, .sha384: false
    }
  }

  /// The names of the standard algorithms.
  package static let standardNames = allCases.filter(\.isStandard).map(\.rawValue)
  /// The names of the other algorithms, which only imported accounts use.
  package static let importedNames = allCases.filter { !$0.isStandard }.map(\.rawValue)

  /// Returns the standard algorithm with this case-insensitive name.
  public init?(name: String) {
    guard let algorithm = Self(anyName: name), algorithm.isStandard else { return nil }
    self = algorithm
  }

  /// Returns the algorithm with this case-insensitive name, also a non-standard one.
  public init?(anyName name: String) {
    // ASCII only: Unicode case mapping would also accept "ſha1".
    let upper = name.utf8.map { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 ? $0 - 0x20 : $0 }
    guard let algorithm = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(upper) }) else {
      return nil
    }
    self = algorithm
  }

  /// The hash function.
  public var hash: HashFunction {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    case .sha512: .sha512
    case .sha224: .sha224
    case .sha384: .sha384
    }
  }
}
