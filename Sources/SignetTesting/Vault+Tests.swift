import SignetCrypto
package import SignetVault

extension Vault.Settings {
  /// Returns the settings of a vault with a minimal cost of passwords and invites.
  ///
  /// Installed programs refuse to open such passwords.
  package static func forTests() -> Self {
    var settings = Self(cost: .fixed(.insecureForTests))
    settings.insecureCostFloor = .insecureForTests
    settings.derivation = .insecureForTests
    return settings
  }
}

extension Vault {
  /// Opens a vault with a minimal password cost; all tests in the process use it, unless they concern costs.
  ///
  /// - Parameters:
  ///   - directory: The folder; a missing one is created.
  ///   - keystore: The keystore; a ``SignetVault/SoftwareKeystore`` in the same folder if `nil`.
  ///   - clock: The clock; the system's if `nil`.
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
