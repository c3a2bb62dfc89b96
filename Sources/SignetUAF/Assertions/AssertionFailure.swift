/// The reasons why bytes are no assertion of scheme `UAFV1TLV`.
package enum AssertionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The assertion is empty or longer than 4096 bytes.
  case byteCount(Int)
  /// The bytes are malformed TLV.
  case tlv(TLVFailure)
  /// The outermost element has another tag.
  case topTag(TLVTag)
  /// Bytes follow the outermost element.
  case trailingBytes(Int)
  /// A required element is missing.
  case missing(TLVTag)
  /// An element that may occur once occurs twice.
  case repeated(TLVTag)
  /// An element has a length that its tag does not allow.
  case length(TLVTag, Int)
  /// A critical element is unknown at its position.
  case unknownCritical(TLVTag)
  /// A critical extension is unknown.
  case unknownExtension(String)
  /// The AAID does not have the form `FFFF#FFFF`.
  case aaid
  /// The assertion has no attestation.
  case noAttestation
  /// The assertion has more than one attestation.
  case severalAttestations

  package var description: String {
    switch self {
    case .byteCount(let count): "the assertion has \(count) bytes; 1 to 4096 are allowed"
    case .tlv(let failure): failure.description
    case .topTag(let tag): "the assertion begins with \(tag)"
    case .trailingBytes(let count): "\(count) bytes follow the assertion"
    case .missing(let tag): "\(tag) is missing"
    case .repeated(let tag): "\(tag) is repeated"
    case .length(let tag, let count): "\(tag) has \(count) bytes"
    case .unknownCritical(let tag): "the critical tag \(tag) is not known here"
    case .unknownExtension(let id): "the critical extension \"\(id)\" is not known"
    case .aaid: "the AAID is not of the form FFFF#FFFF"
    case .noAttestation: "there is no attestation"
    case .severalAttestations: "there are several attestations"
    }
  }
}
