import SignetCrypto

/// The bytes of hexadecimal digits, with white space and line breaks as in standards.
func bytes(_ digits: String) throws -> [UInt8] {
  try Hex.decode(digits.filter { !$0.isWhitespace })
}

func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

func secret(_ digits: String) throws -> SecretBytes { SecretBytes(copying: try bytes(digits)) }

/// A random source that always returns the same byte.
struct FixedRandomSource: RandomSource {
  let byte: UInt8

  func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
}
