package import SignetCrypto
package import SignetVault

extension Argon2id {
  /// A cost far below every floor, for tests that are not about costs: such a derivation takes no time.
  package static let insecureForTests = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
}

extension Vault.Settings {
  /// Settings of a vault whose passwords cost nothing.
  ///
  /// Programs that are installed refuse to open such passwords.
  package static func forTests() -> Self {
    var settings = Self(cost: .fixed(.insecureForTests))
    settings.insecureCostFloor = .insecureForTests
    return settings
  }
}

extension Vault {
  /// Opens a vault whose passwords cost nothing; every test in the process uses it, unless it is about costs.
  ///
  /// - Parameters:
  ///   - directory: The folder; a missing one is made.
  ///   - keystore: The keystore; a ``SignetVault/SoftwareKeystore`` in the same folder if it is `nil`.
  ///   - clock: What tells the time; the system's if it is `nil`.
  ///   - change: Changes the other settings.
  /// - Returns: The vault.
  /// - Throws: `VaultFailure`.
  package static func forTests(
    _ directory: String, keystore: (any HardwareKeystore)? = nil, clock: (any TrustedClock)? = nil,
    _ change: (inout Settings) -> Void = { _ in }
  ) throws -> Vault {
    var settings = Settings.forTests()
    settings.clock = clock
    change(&settings)
    return try Vault(
      directory: directory, keystore: keystore ?? SoftwareKeystore(directory: directory), settings: settings)
  }
}
