/// Why bytes are no assertion of scheme `UAFV1TLV`.
package enum AssertionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There are no bytes, or more than 4096.
  case byteCount(Int)
  /// The bytes are no TLV.
  case tlv(TLVFailure)
  /// The outermost element is another.
  case topTag(TLVTag)
  /// Bytes follow the outermost element.
  case trailingBytes(Int)
  /// An element that has to be there is not.
  case missing(TLVTag)
  /// An element that may be there once is there twice.
  case repeated(TLVTag)
  /// An element has a length that its kind does not have.
  case length(TLVTag, Int)
  /// A critical element is not known at its place.
  case unknownCritical(TLVTag)
  /// A critical extension is not known.
  case unknownExtension(String)
  /// The model's name is not of the form `FFFF#FFFF`.
  case aaid
  /// There is no attestation.
  case noAttestation
  /// There are two attestations.
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
