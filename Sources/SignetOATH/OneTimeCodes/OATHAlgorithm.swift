public import SignetCrypto

/// The hash function under the HMAC of a one-time code.
public enum OATHAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// SHA-1, the one of RFC 4226 and what most authenticators assume.
  case sha1 = "SHA1"
  /// SHA-256 (RFC 6238 section 1.2).
  case sha256 = "SHA256"
  /// SHA-512 (RFC 6238 section 1.2).
  case sha512 = "SHA512"
  /// SHA-224: in no standard of OATH, but in accounts of older authenticators.
  case sha224 = "SHA224"
  /// SHA-384: in no standard of OATH, but in accounts of older authenticators.
  case sha384 = "SHA384"

  /// Whether RFC 4226 or RFC 6238 has it.
  public var isStandard: Bool {
    switch self {
    case .sha1, .sha256, .sha512: true
    case .sha224, .sha384: false
    }
  }

  /// The names of those that are standard: what codes are made with, whoever makes them.
  package static let standardNames = allCases.filter(\.isStandard).map(\.rawValue)
  /// The names of the others, with which accounts are imported.
  package static let importedNames = allCases.filter { !$0.isStandard }.map(\.rawValue)

  /// The standard algorithm with this name, upper or lower case.
  public init?(name: String) {
    guard let algorithm = Self(anyName: name), algorithm.isStandard else { return nil }
    self = algorithm
  }

  /// The algorithm with this name, upper or lower case, also one that is imported only.
  public init?(anyName name: String) {
    // ASCII only: the rules of Unicode would make "ſha1" the same name.
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
