public import SignetVault

/// How the device asks for a finger or a face.
public struct UAFBiometricPrompt: Sendable {
  let reason: String
  let hints: @Sendable (BiometricHint) -> Void

  /// Sets what the person reads.
  ///
  /// - Parameters:
  ///   - reason: Why they are asked.
  ///   - hints: Hears what to show while the sensor waits.
  public init(reason: String, hints: @escaping @Sendable (BiometricHint) -> Void = { _ in }) {
    (self.reason, self.hints) = (reason, hints)
  }
}
