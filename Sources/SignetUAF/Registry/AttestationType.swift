/// How an authenticator proves its model; the numbers are those of the tags.
package struct AttestationType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The registry's number.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// Signed by a key that a certificate vouches for.
  package static let basicFull = AttestationType(0x3E07)
  /// Signed by the new key itself, which proves possession only.
  package static let basicSurrogate = AttestationType(0x3E08)
  /// Direct anonymous attestation, which is not supported here.
  package static let ecdaa = AttestationType(0x3E09)

  /// A short name, or nil for a number that the registry does not have.
  package var name: String? {
    switch self {
    case .basicFull: "basic_full"
    case .basicSurrogate: "basic_surrogate"
    case .ecdaa: "ecdaa"
    default: nil
    }
  }

  package var description: String { name.map { "\($0) (\(rawValue.registryHex))" } ?? rawValue.registryHex }
}
