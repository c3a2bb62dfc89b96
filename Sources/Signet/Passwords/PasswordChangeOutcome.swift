import SignetVault

/// What became of a password that was changed: it opens from now on, and the one before does not.
@nonexhaustive public enum PasswordChangeOutcome: Sendable, Hashable {
  /// An older copy of the data folder is of no use, as far as the hardware can tell older copies.
  case done
  /// The hardware could not count the change: until something else is done with this device, an older copy of the data folder
  /// would open with the password before.
  case uncounted(SignetFailure)

  init(_ failure: VaultFailure?) {
    self = failure.map { .uncounted(SignetFailure($0)) } ?? .done
  }
}
