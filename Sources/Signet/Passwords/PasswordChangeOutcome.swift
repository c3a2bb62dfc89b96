import SignetVault

/// The outcome of a password change; in each case the new password is valid and the old one is not.
@nonexhaustive public enum PasswordChangeOutcome: Sendable, Hashable {
  /// An older copy of the data folder cannot restore the old password, as far as the hardware detects a rollback.
  case done
  /// The hardware counter could not be incremented.
  ///
  /// Until the next counted change on this device, an older copy of the data folder would open with the old password.
  case uncounted(SignetFailure)

  init(_ failure: VaultFailure?) {
    self = failure.map { .uncounted(SignetFailure($0)) } ?? .done
  }
}
