/// A public key supplied for an inspection.
package struct InspectionKey: Sendable {
  package let bytes: [UInt8]
  package let format: UAFKeyFormat
  /// The format that the bytes suggest.
  private let likelyFormat: UAFKeyFormat

  /// Creates a key; without a format, the bytes determine it.
  package init(_ bytes: [UInt8], format: UAFKeyFormat? = nil) {
    self.bytes = bytes
    likelyFormat = Self.likelyFormat(bytes)
    self.format = format ?? likelyFormat
  }

  /// Returns the key for an algorithm.
  func publicKey(for algorithm: UAFAlgorithm) throws(UAFKeyFailure) -> UAFPublicKey {
    try UAFPublicKey(bytes, format: format, for: algorithm)
  }

  /// Returns the reason why the key cannot be used, and what to do about it.
  func description(of failure: UAFKeyFailure, for algorithm: UAFAlgorithm) -> String {
    guard case .key = failure else { return "the given key: \(failure)" }
    let reason = "\(failure); it was read as \(format) for \(algorithm)"
    return format == likelyFormat ? reason : "\(reason), and looks like \(likelyFormat)"
  }

  private static func likelyFormat(_ bytes: [UInt8]) -> UAFKeyFormat {
    switch (bytes.first, bytes.count) {
    // Includes compressed points and points without the first byte, so that the error is about a point, not another kind of
    // key.
    case (0x04, 65), (0x02, 33), (0x03, 33), (_, 64): .x962RAW
    case (_, 257...264): .rsa2048RAW
    case (0x30, ...120): .x962DER
    default: .rsa2048DER
    }
  }
}
