import SignetCrypto
public import SignetVault

/// The checks that every ``SignetVault/HardwareKeystore`` must pass.
///
/// Each check may open the keystore of one device several times, and throws a ``Failure`` that names the expectation. A
/// check of a capability passes if the keystore lacks the capability:
///
/// ```swift
/// @Test(arguments: KeystoreContract.checks) func keepsTheContract(_ check: KeystoreContract.Check) throws {
///   try check.run { SoftwareKeystore(directory: folder.path) }
/// }
/// ```
public enum KeystoreContract {
  /// A violation of the contract.
  public struct Failure: Error, CustomStringConvertible {
    /// The expectation, and the observed result.
    public let description: String
  }

  /// One check.
  public struct Check: Sendable, CustomStringConvertible {
    /// The name of the check.
    public let name: String
    private let body: @Sendable (_ open: () throws -> any HardwareKeystore) throws -> Void

    init(
      _ name: String, _ body: @escaping @Sendable (_ open: () throws -> any HardwareKeystore) throws -> Void
    ) {
      (self.name, self.body) = (name, body)
    }

    /// Runs the check.
    ///
    /// - Parameter open: Opens the keystore of one device, the same with each call.
    /// - Throws: ``Failure``, or the keystore's error.
    public func run(_ open: () throws -> any HardwareKeystore) throws { try body(open) }

    /// The name.
    public var description: String { name }
  }

  /// All checks.
  public static let checks: [Check] = sealing + signing + guessing + counting
}

extension KeystoreContract {
  private static let secret = [UInt8](1...32)

  private static let sealing: [Check] = [
    Check("what was sealed opens, also when the keystore is opened anew") { open in
      let keystore = try open()
      for byteCount in [1, 32, 127, 128] {
        for context in [[], [0], [UInt8](repeating: 9, count: 1000)] as [[UInt8]] {
          let secret = [UInt8](repeating: UInt8(byteCount), count: byteCount)
          let blob = try keystore.seal(SecretBytes(copying: secret), context: context)
          try expect(
            open().unseal(blob, context: context).insecureCopy() == secret, "\(byteCount) bytes did not open")
        }
      }
    },
    Check("zeros at the end of a secret or a context count") { open in
      let keystore = try open()
      let secret: [UInt8] = [1, 0, 0]
      let blob = try keystore.seal(SecretBytes(copying: secret), context: [1, 0])
      try expect(keystore.unseal(blob, context: [1, 0]).insecureCopy() == secret, "zeros were lost")
      for other in [[1], [1, 0, 0]] as [[UInt8]] {
        try expectRefusal("context \(other)") { _ = try keystore.unseal(blob, context: other) }
      }
    },
    Check("two blobs of one secret have nothing in common that tells") { open in
      let keystore = try open()
      let first = try keystore.seal(SecretBytes(copying: secret), context: [1])
      let second = try keystore.seal(SecretBytes(copying: secret), context: [1])
      try expect(first != second, "the same blob twice")
      try expect(!contains(first, secret), "the blob has the secret in it")
    },
    Check("more than 128 bytes are refused") { open in
      do throws(KeystoreFailure) {
        _ = try openUnchecked(open).seal(SecretBytes.random(byteCount: 129), context: [])
      } catch .secretTooLong { return }
      throw Failure(description: "129 bytes were sealed")
    },
    Check("another context is refused") { open in
      let keystore = try open()
      let blob = try keystore.seal(SecretBytes(copying: secret), context: [1])
      for context in [[], [2], [1, 1], [UInt8](repeating: 1, count: 500)] as [[UInt8]] {
        try expectRefusal("context \(context)") { _ = try keystore.unseal(blob, context: context) }
      }
      try expect(keystore.unseal(blob, context: [1]).insecureCopy() == secret, "does not open afterwards")
    },
    Check("a changed, cut or lengthened blob is refused") { open in
      let keystore = try open()
      let blob = try keystore.seal(SecretBytes(copying: secret), context: [1])
      try forEachChange(of: blob) { changed, change in
        try expectRefusal(change) { _ = try keystore.unseal(changed, context: [1]) }
      }
      try expect(keystore.unseal(blob, context: [1]).insecureCopy() == secret, "does not open afterwards")
    },
    Check("the status says the kind") { open in
      let keystore = try open()
      try expect(keystore.status().kind == keystore.kind, "the status has another kind")
    },
  ]

  private static let signing: [Check] = [
    Check("a signing key signs, with its authorization only, also when the keystore is opened anew") { open in
      guard let keystore = try open() as? any SigningKeystore, let again = try open() as? any SigningKeystore
      else { return }
      let key = try keystore.makeSigningKey(authorization: SecretBytes(copying: [1]))
      let message = Array("a message".utf8)
      let digest = HashFunction.sha256.digest(of: message)
      for signer in [keystore, again] {
        let signature = try signer.signature(
          ofDigest: digest, with: key.blob, authorization: SecretBytes(copying: [1]))
        try expect(key.publicKey.isValidSignature(signature, for: message), "the signature is not valid")
        try expect(
          !key.publicKey.isValidSignature(signature, for: message + [0]), "valid for another message")
      }
      try expectRefusal("another authorization") {
        _ = try keystore.signature(ofDigest: digest, with: key.blob, authorization: SecretBytes(copying: [2]))
      }
      try expectRefusal("a signing key is no sealed secret") {
        _ = try keystore.unseal(key.blob, context: [1])
      }
      try expect(
        keystore.makeSigningKey(authorization: SecretBytes(copying: [1])).publicKey != key.publicKey,
        "the same key was made twice")
      try forEachChange(of: key.blob) { changed, change in
        try expectRefusal(change) {
          _ = try keystore.signature(
            ofDigest: digest, with: changed, authorization: SecretBytes(copying: [1]))
        }
      }
    }
  ]

  private static let guessing: [Check] = [
    Check("the limit holds, a right guess takes the count back, and discarding ends it") { open in
      guard let keystore = try open() as? any GuessLimitingKeystore else { return }
      let blob = try keystore.seal(
        SecretBytes(copying: secret), context: [1], authorization: SecretBytes(copying: [1, 2]), limit: 2)
      func guess(_ guess: [UInt8]) throws -> String {
        guard let keystore = try open() as? any GuessLimitingKeystore else { return "no capability" }
        switch try keystore.unseal(blob, context: [1], authorization: SecretBytes(copying: guess)) {
        case .opened(let opened): return opened.insecureCopy() == secret ? "opened" : "opened something else"
        case .wrong(let remaining): return "wrong, \(remaining)"
        case .lockedOut: return "locked"
        }
      }
      for (attempt, expected) in [
        ([1, 2], "opened"), ([2], "wrong, 1"), ([1, 2], "opened"), ([1, 2, 0], "wrong, 1"), ([], "wrong, 0"),
        ([1, 2], "locked"),
      ] as [([UInt8], String)] {
        let found = try guess(attempt)
        try expect(found == expected, "guess \(attempt): expected \(expected), found \(found)")
      }
      try expect(keystore.guessesLeft(blob) == 0, "guesses are left")
      try keystore.discard(blob)
      try keystore.discard(blob)
      do throws(KeystoreFailure) { _ = try keystore.guessesLeft(blob) } catch .countGone { return }
      throw Failure(description: "discarded, and it is still there")
    },
    Check("a changed guess-limited blob is refused, and costs no guess") { open in
      guard let keystore = try open() as? any GuessLimitingKeystore else { return }
      let guess = SecretBytes(copying: [1, 2])
      let blob = try keystore.seal(SecretBytes(copying: secret), context: [1], authorization: guess, limit: 3)
      try forEachChange(of: blob) { changed, change in
        try expectRefusal(change) { _ = try keystore.unseal(changed, context: [1], authorization: guess) }
      }
      try expectRefusal("another context") {
        _ = try keystore.unseal(blob, context: [2], authorization: guess)
      }
      try expectRefusal("without a guess") { _ = try keystore.unseal(blob, context: [1]) }
      try expect(keystore.guessesLeft(blob) == 3, "a guess was counted")
      try keystore.discard(blob)
    },
  ]

  private static let counting: [Check] = [
    Check("counters go up by one until they are discarded, and none starts below an earlier one") { open in
      guard let keystore = try open() as? any CountingKeystore else { return }
      let blob = try keystore.makeCounter()
      let first = try keystore.counterValue(blob)
      try expect(first > 0, "the first value is 0")
      for step in 1...3 as ClosedRange<UInt64> {
        guard let again = try open() as? any CountingKeystore else { return }
        try again.advanceCounter(blob)
        try expect(keystore.counterValue(blob) == first + step, "the value after step \(step)")
      }
      try keystore.discard(blob)
      let next = try keystore.makeCounter()
      try expect(keystore.counterValue(next) > first + 3, "a counter starts where an earlier one was")
      try keystore.discard(next)
      do throws(KeystoreFailure) { _ = try keystore.counterValue(blob) } catch .countGone { return }
      throw Failure(description: "discarded, and it still counts")
    }
  ]
}

extension KeystoreContract {
  private static func openUnchecked(_ open: () throws -> any HardwareKeystore) -> any HardwareKeystore {
    do { return try open() } catch { preconditionFailure("the keystore cannot be opened: \(error)") }
  }

  private static func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    guard condition else { throw Failure(description: sentence()) }
  }

  /// Runs a call that must fail with a ``KeystoreFailure`` whose remedy is to register anew.
  private static func expectRefusal(_ change: String, _ body: () throws -> Void) throws {
    do { try body() } catch let failure as KeystoreFailure {
      return try expect(failure.remedy == .registerAnew, "\(change): failed with “\(failure)”")
    }
    throw Failure(description: "\(change): expected a refusal, and it succeeded")
  }

  /// Calls `body` with variants of `blob` with a changed bit or length: all variants of a short blob, 100 of a long one.
  private static func forEachChange(of blob: [UInt8], _ body: ([UInt8], String) throws -> Void) throws {
    for index in stride(from: 0, to: blob.count, by: max(1, blob.count / 100)) {
      var changed = blob
      changed[index] ^= 1 << (index % 8)
      try body(changed, "byte \(index) changed")
    }
    for count in stride(from: 0, to: blob.count, by: max(1, blob.count / 20)) {
      try body(Array(blob.prefix(count)), "cut to \(count) bytes")
    }
    try body(blob + [0], "one byte more")
    try body(blob + [UInt8](repeating: 0, count: 100_000), "100,000 bytes more")
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: part) }
  }
}
