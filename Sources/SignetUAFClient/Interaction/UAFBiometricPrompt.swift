public import SignetVault

/// The texts of a fingerprint or face prompt.
public struct UAFBiometricPrompt: Sendable {
  let reason: String
  let hints: @Sendable (BiometricHint) -> Void

  /// Creates the texts.
  ///
  /// - Parameters:
  ///   - reason: The reason that the prompt shows to the user.
  ///   - hints: Receives hints to show while the sensor waits.
  public init(reason: String, hints: @escaping @Sendable (BiometricHint) -> Void = { _ in }) {
    (self.reason, self.hints) = (reason, hints)
  }
}
