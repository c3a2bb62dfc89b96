import SignetCrypto

/// A password after its derivation: all that an attempt needs, had before it is counted.
struct PasswordGuess {
  /// Where the slot's hardware secret comes from.
  enum HardwareSecret {
    /// The hardware gives it to whoever asks: this is it.
    case known(SharedSecretBox)
    /// The hardware compares and counts, and gives it for the right password only.
    case compared(any GuessLimitingKeystore)
  }

  /// What the comparison says.
  enum Result {
    case right(masterKey: SharedSecretBox)
    /// So many guesses the hardware allows after this one, `.max` where it does not count; `nil` if it did not even compare.
    case wrong(hardwareAllows: Int?)
  }

  /// What the password is for.
  let slot: ProtectionSlot
  private let derived: SharedSecretBox
  private let hardwareSecret: HardwareSecret

  /// Puts together what is compared.
  ///
  /// - Parameters:
  ///   - slot: What the password is for; not silent.
  ///   - derived: What was derived from it with the slot's salt and cost.
  ///   - hardwareSecret: What the slot's key is made with, too.
  init(_ slot: ProtectionSlot, _ derived: SharedSecretBox, _ hardwareSecret: HardwareSecret) {
    (self.slot, self.derived, self.hardwareSecret) = (slot, derived, hardwareSecret)
  }

  /// Compares; nothing here counts but hardware that does so itself.
  ///
  /// - Throws: ``KeystoreFailure``, ``CryptoFailure``: then nobody knows whether the password is right.
  func test() throws -> Result {
    let secret: SharedSecretBox
    switch hardwareSecret {
    case .known(let known): secret = known
    case .compared(let hardware):
      let outcome = try hardware.unseal(
        slot.sealedSecret, context: slot.header.place.hardwareContext(.password),
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
