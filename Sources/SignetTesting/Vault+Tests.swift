import SignetCrypto
package import SignetVault

extension Vault.Settings {
  /// Settings of a vault whose passwords, and invites, cost nothing.
  ///
  /// Programs that are installed refuse to open such passwords.
  package static func forTests() -> Self {
    var settings = Self(cost: .fixed(.insecureForTests))
    settings.insecureCostFloor = .insecureForTests
    settings.derivation = .insecureForTests
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
