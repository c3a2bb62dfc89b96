#if os(Linux)
  package import SignetVault

  /// A transport of commands to a TPM and of its answers, one at a time, always with a time-out.
  ///
  /// Secrets in them are encrypted before they reach the link.
  package protocol TPMLink: AnyObject {
    /// Sends a whole command.
    func send(_ command: [UInt8]) throws(KeystoreFailure)
    /// Returns the whole answer to the last command.
    func receive() throws(KeystoreFailure) -> [UInt8]
  }

  /// The framing of commands and answers (TPM 2.0 Library, part 1 section 18).
  package enum TPMFrame {
    static let headerByteCount = 10
    package static let largestByteCount = 4096

    /// The size field of an answer; `nil` if it is out of range.
    static func byteCount(ofAnswer bytes: [UInt8]) -> Int? {
      guard let size = number(bytes, 2) else { return nil }
      return (headerByteCount...largestByteCount).contains(Int(size)) ? Int(size) : nil
    }

    package static func code(ofAnswer bytes: [UInt8]) -> UInt32? { number(bytes, 6) }

    /// Four bytes, big-endian.
    package static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32? {
      guard bytes.count >= offset + 4 else { return nil }
      return bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A command without sessions.
    static func command(_ code: UInt32, _ numbers: [UInt32]) -> [UInt8] {
      let size = UInt32(headerByteCount + 4 * numbers.count)
      return [0x80, 0x01] + ([size, code] + numbers).flatMap(\.bigEndianBytes)
    }
  }

  extension FixedWidthInteger {
    /// The bytes, most significant first.
    package var bigEndianBytes: [UInt8] {
      (0..<(Self.bitWidth / 8)).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
  }
#endif
