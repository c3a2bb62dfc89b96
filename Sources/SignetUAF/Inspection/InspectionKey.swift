/// A public key as whoever looks at a message has it.
package struct InspectionKey: Sendable {
  package let bytes: [UInt8]
  package let format: UAFKeyFormat
  /// What the bytes look like.
  private let likelyFormat: UAFKeyFormat

  /// Takes the bytes; without a format, it is the one that the bytes look like.
  package init(_ bytes: [UInt8], format: UAFKeyFormat? = nil) {
    self.bytes = bytes
    likelyFormat = Self.likelyFormat(bytes)
    self.format = format ?? likelyFormat
  }

  /// The key, for an algorithm.
  func publicKey(for algorithm: UAFAlgorithm) throws(UAFKeyFailure) -> UAFPublicKey {
    try UAFPublicKey(bytes, format: format, for: algorithm)
  }

  /// Why the key is of no use, and what to do.
  func description(of failure: UAFKeyFailure, for algorithm: UAFAlgorithm) -> String {
    guard case .key = failure else { return "the given key: \(failure)" }
    let reading = "\(failure); it was read as \(format) for \(algorithm)"
    return format == likelyFormat ? reading : "\(reading), and looks like \(likelyFormat)"
  }

  private static func likelyFormat(_ bytes: [UInt8]) -> UAFKeyFormat {
    switch (bytes.first, bytes.count) {
    // The point, compressed or without its first byte too: it is refused as a point then, not as another kind of key.
    case (0x04, 65), (0x02, 33), (0x03, 33), (_, 64): .x962RAW
    case (_, 257...264): .rsa2048RAW
    case (0x30, ...120): .x962DER
    default: .rsa2048DER
    }
  }
}
