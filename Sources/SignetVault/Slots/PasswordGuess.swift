import SignetCrypto

/// A password after its derivation, with everything that an attempt needs before it is counted.
struct PasswordGuess {
  /// The source of the slot's hardware secret.
  enum HardwareSecret {
    /// The secret itself, which the hardware released without a check.
    case released(SharedSecretBox)
    /// Hardware that compares and counts, and releases the secret only for the right password.
    case compared(any GuessLimitingKeystore)
  }

  /// The result of the comparison.
  enum Result {
    case right(masterKey: SharedSecretBox)
    /// `hardwareAllows` is the number of guesses left in the hardware: `.max` if it does not count, `nil` if it did not compare.
    case wrong(hardwareAllows: Int?)
  }

  let slot: ProtectionSlot
  private let derived: SharedSecretBox
  private let hardwareSecret: HardwareSecret

  /// Creates a guess.
  ///
  /// - Parameters:
  ///   - slot: The slot that the password is for; not silent.
  ///   - derived: The key derived from the password with the slot's salt and cost.
  ///   - hardwareSecret: The source of the slot's hardware secret.
  init(_ slot: ProtectionSlot, _ derived: SharedSecretBox, _ hardwareSecret: HardwareSecret) {
    self.slot = slot
    self.derived = derived
    self.hardwareSecret = hardwareSecret
  }

  /// Compares the guess; only hardware that counts by itself counts here.
  ///
  /// - Throws: ``KeystoreFailure``, ``CryptoFailure``: then it is unknown whether the password is right.
  func test() throws -> Result {
    let secret: SharedSecretBox
    switch hardwareSecret {
    case .released(let released): secret = released
    case .compared(let hardware):
      let outcome = try hardware.unseal(
        slot.sealedSecret, context: slot.header.domainID.hardwareContext(.password),
        authorization: ProtectionSlot.authorization(derived))
      switch consume outcome {
      case .opened(let opened): secret = SharedSecretBox(opened)
      case .wrong(let remaining): return .wrong(hardwareAllows: remaining)
      case .lockedOut: return .wrong(hardwareAllows: nil)
      }
    }
    return try secret.withSecret { secret in
      guard let masterKey = try slot.unwrap(hardwareSecret: secret, derived: derived) else {
        return .wrong(hardwareAllows: .max)
      }
      return .right(masterKey: SharedSecretBox(masterKey))
    }
  }
}
