/// The key derivation function HKDF of RFC 5869: extract, then expand.
///
/// It uses HMAC directly, because OpenSSL's `HKDF` accepts at most 32 KiB of `info`.
public enum HKDF {
  /// Extracts a pseudorandom key of one digest from `inputKey` (RFC 5869 section 2.2).
  ///
  /// An empty salt counts as zeros, as the standard specifies.
  public static func extract(
    salt: [UInt8], inputKey: borrowing SecretBytes, _ hash: HashFunction
  ) -> SecretBytes {
    inputKey.withUInt8Span { extract(salt: salt.span, inputKey: $0, hash) }
  }

  /// Extracts a pseudorandom key of one digest from `inputKey` under a secret salt.
  public static func extract(
    salt: borrowing SecretBytes, inputKey: borrowing SecretBytes, _ hash: HashFunction
  ) -> SecretBytes {
    inputKey.withUInt8Span { inputKey in salt.withUInt8Span { extract(salt: $0, inputKey: inputKey, hash) } }
  }

  /// Expands a pseudorandom key to `byteCount` bytes (RFC 5869 section 2.3).
  ///
  /// - Precondition: `byteCount` is at most ``maximumByteCount(_:)``.
  public static func expand(
    _ pseudorandomKey: borrowing SecretBytes, info: [UInt8], byteCount: Int, _ hash: HashFunction
  ) -> SecretBytes {
    precondition(
      (0...maximumByteCount(hash)).contains(byteCount),
      "HKDF gives 0 to \(maximumByteCount(hash)) bytes, not \(byteCount)")
    return pseudorandomKey.withUInt8Span { key in
      var context = MACContext(key: key, hash)
      return SecretBytes(byteCount: byteCount) { output in
        var block = SecretBytes(copying: [])
        var counter: UInt8 = 0
        while output.byteCount < byteCount {
          counter += 1
          context.begin()
          block.withUInt8Span { context.update($0) }
          context.update(info.span)
          context.update([counter].span)
          block = context.finishSecretly()
          block.withUInt8Span { block in
            for index in 0..<min(block.count, byteCount - output.byteCount) { output.append(block[index]) }
          }
        }
      }
    }
  }

  /// Extracts and expands: derives `byteCount` bytes that depend on `salt` and `info`.
  ///
  /// - Precondition: `byteCount` is at most ``maximumByteCount(_:)``.
  public static func derive(
    inputKey: borrowing SecretBytes, salt: [UInt8], info: [UInt8], byteCount: Int, _ hash: HashFunction
  ) -> SecretBytes {
    let pseudorandomKey = extract(salt: salt, inputKey: inputKey, hash)
    return expand(pseudorandomKey, info: info, byteCount: byteCount, hash)
  }

  /// Returns the longest output of one expansion, in bytes: 255 digests.
  public static func maximumByteCount(_ hash: HashFunction) -> Int { 255 * hash.byteCount }

  private static func extract(salt: Span<UInt8>, inputKey: Span<UInt8>, _ hash: HashFunction) -> SecretBytes {
    var context = MACContext(key: salt, hash)
    context.update(inputKey)
    return context.finishSecretly()
  }
}
