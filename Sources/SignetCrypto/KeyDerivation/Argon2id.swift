/// The cost of key derivation from a password with Argon2id version 1.3 (RFC 9106).
///
/// A derivation blocks its thread for the whole time: call it on a separate executor.
public struct Argon2id: Sendable, Hashable {
  /// The memory in KiB, from 8 times the lanes to 1,048,576 (1 GiB).
  public var memoryKiB: Int
  /// The number of passes over the memory, 1 to 64.
  public var passes: Int
  /// The number of lanes, each with its own thread, 1 to 16.
  public var lanes: Int

  /// The lowest cost for Signet's own passwords: 19 MiB, 2 passes, 1 lane (OWASP's smallest recommendation).
  public static let minimum = Argon2id(memoryKiB: 19 * 1024, passes: 2, lanes: 1)

  /// Creates a cost; ``derive(password:salt:byteCount:)`` checks its range.
  public init(memoryKiB: Int, passes: Int, lanes: Int) {
    self.memoryKiB = memoryKiB
    self.passes = passes
    self.lanes = lanes
  }

  /// Indicates whether no parameter is below ``minimum``.
  public var meetsMinimum: Bool {
    memoryKiB >= Self.minimum.memoryKiB && passes >= Self.minimum.passes && lanes >= Self.minimum.lanes
  }

  /// Derives `byteCount` bytes (4 to 1024) from a password and a salt (8 to 1024 bytes).
  ///
  /// - Throws: ``CryptoFailure/parameterOutOfRange(_:_:allowed:)`` outside these ranges or those of the cost;
  ///   ``CryptoFailure/outOfMemory``.
  public func derive(
    password: borrowing SecretBytes, salt: [UInt8], byteCount: Int
  ) throws(CryptoFailure) -> SecretBytes {
    try derive(
      password: password, salt: salt, secret: SecretBytes(copying: []), associatedData: [],
      byteCount: byteCount)
  }

  /// Derives like ``derive(password:salt:byteCount:)``, with a secret key and associated data as further inputs.
  ///
  /// `secret` is a key that is stored separately from the salt, for example in hardware; `associatedData` is public (K and X
  /// of RFC 9106 section 3.1).
  public func derive(
    password: borrowing SecretBytes, salt: [UInt8], secret: borrowing SecretBytes,
    associatedData: [UInt8], byteCount: Int
  ) throws(CryptoFailure) -> SecretBytes {
    try CryptoFailure.require(lanes, in: 1...16, .lanes)
    try CryptoFailure.require(memoryKiB, in: (8 * lanes)...(1024 * 1024), .memoryKiB)
    try CryptoFailure.require(passes, in: 1...64, .passes)
    try CryptoFailure.require(salt.count, in: 8...1024, .saltByteCount)
    try CryptoFailure.require(password.byteCount, in: 0...65_536, .passwordByteCount)
    try CryptoFailure.require(byteCount, in: 4...1024, .outputByteCount)
    return try password.withUInt8Span { (password) throws(CryptoFailure) in
      try secret.withUInt8Span { (secret) throws(CryptoFailure) in
        try PasswordFunctions.argon2id(
          password: password, salt: salt.span, secret: secret, associatedData: associatedData.span,
          byteCount: byteCount, self)
      }
    }
  }
}

/// The derivation of 32 bytes from a password or an invite: Argon2id, unless a test counts or shortens it.
package struct PasswordDerivation: Sendable {
  package typealias Derive =
    @Sendable (_ password: borrowing SecretBytes, _ salt: [UInt8], _ cost: Argon2id) throws(CryptoFailure) ->
    SecretBytes

  package let derive: Derive

  package init(_ derive: @escaping Derive) { self.derive = derive }

  /// Argon2id with 32 bytes of output.
  package static let argon2id = PasswordDerivation { (password, salt, cost) throws(CryptoFailure) in
    try cost.derive(password: password, salt: salt, byteCount: 32)
  }
}
