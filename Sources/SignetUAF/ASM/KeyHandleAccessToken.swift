import SignetCrypto

/// The token that binds a key to the app that created it, on the device (UAF ASM API section 6.1).
package enum KeyHandleAccessToken {
  /// Computes the token for a built-in authenticator.
  ///
  /// - Parameters:
  ///   - appID: The application.
  ///   - asmToken: A random secret of the installation.
  ///   - personaID: The user of the device; empty if it has one user.
  ///   - callerID: The app's identity from the operating system.
  /// - Returns: The token, 32 bytes.
  package static func bound(
    appID: String, asmToken: [UInt8], personaID: String, callerID: String
  ) -> [UInt8] {
    HashFunction.sha256.digest(
      of: Array(appID.utf8) + asmToken + Array(personaID.utf8) + Array(callerID.utf8))
  }

  /// Computes the token for an authenticator that moves between devices.
  package static func roaming(appID: String) -> [UInt8] {
    HashFunction.sha256.digest(of: Array(appID.utf8))
  }
}
