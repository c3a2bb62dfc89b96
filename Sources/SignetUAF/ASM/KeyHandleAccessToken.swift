import SignetCrypto

/// Ties a key to the app that made it, on the device (UAF ASM API section 6.1).
package enum KeyHandleAccessToken {
  /// The token for an authenticator that is part of the device.
  ///
  /// - Parameters:
  ///   - appID: The application.
  ///   - asmToken: A random secret of the installation.
  ///   - personaID: Who uses the device; empty where it has one user.
  ///   - callerID: The app, as the system names it.
  /// - Returns: 32 bytes.
  package static func bound(
    appID: String, asmToken: [UInt8], personaID: String, callerID: String
  ) -> [UInt8] {
    HashFunction.sha256.digest(
      of: Array(appID.utf8) + asmToken + Array(personaID.utf8) + Array(callerID.utf8))
  }

  /// The token for an authenticator that moves between devices.
  package static func roaming(appID: String) -> [UInt8] {
    HashFunction.sha256.digest(of: Array(appID.utf8))
  }
}
