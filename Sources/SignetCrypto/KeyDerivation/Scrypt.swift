/// The password-based key derivation of RFC 7914, for foreign formats; Signet's own use ``Argon2id``.
public struct Scrypt: Sendable, Hashable {
  /// The largest `cost * blockSize * parallelization`: about 4 s and, with one lane, 512 MiB.
  public static let maximumWork = 1 << 22

  /// The processor and memory cost: N of the RFC, a power of two from 2 to 2^20.
  public let cost: Int
  /// The block size: r of the RFC, 1 to 64.
  public let blockSize: Int
  /// The parallelization: p of the RFC, 1 to 64.
  public let parallelization: Int

  /// Creates a cost; ``derive(password:salt:byteCount:)`` checks its range.
  public init(cost: Int, blockSize: Int, parallelization: Int) {
    self.cost = cost
    self.blockSize = blockSize
    self.parallelization = parallelization
  }

  /// Derives bytes from a password.
  ///
  /// The limits keep a malicious file from exhausting the memory or occupying the processor for minutes.
  ///
  /// - Parameters:
  ///   - password: The password, of any length.
  ///   - salt: The salt, of any length.
  ///   - byteCount: The length of the output, 1 to 1024.
  /// - Returns: The derived bytes.
  /// - Throws: ``CryptoFailure/parameterOutOfRange(_:_:allowed:)``, ``CryptoFailure/outOfMemory``.
  public func derive(
    password: borrowing SecretBytes, salt: [UInt8], byteCount: Int
  ) throws(CryptoFailure) -> SecretBytes {
    try CryptoFailure.require(cost, in: 2...(1 << 20), .scryptCost)
    guard cost & (cost - 1) == 0 else {
      throw .parameterOutOfRange(.scryptCost, cost, allowed: 2...(1 << 20))
    }
    try CryptoFailure.require(blockSize, in: 1...64, .scryptBlockSize)
    try CryptoFailure.require(parallelization, in: 1...64, .scryptParallelization)
    try CryptoFailure.require(cost * blockSize * parallelization, in: 1...Self.maximumWork, .scryptWork)
    try CryptoFailure.require(byteCount, in: 1...1024, .outputByteCount)
    return try password.withUInt8Span { (password) throws(CryptoFailure) in
      try PasswordFunctions.scrypt(password: password, salt: salt.span, byteCount: byteCount, self)
    }
  }
}
