/// The data that an authenticator signs about a new key (TAG_UAFV1_KRD).
package struct KeyRegistrationData: Hashable, Sendable {
  package var aaid: AAID
  package var authenticatorVersion: UInt16
  /// The value of `authenticationMode` as received; only 1 is valid.
  package var mode: UInt8
  package var algorithm: UAFAlgorithm
  package var keyFormat: UAFKeyFormat
  package var finalChallengeHash: [UInt8]
  package var keyID: KeyID
  package var signCounter: UInt32
  package var registrationCounter: UInt32
  package var publicKey: [UInt8]
  package var extensions: [AssertionExtension]

  package init(
    aaid: AAID, authenticatorVersion: UInt16, mode: UInt8 = AuthenticationMode.userVerified.rawValue,
    algorithm: UAFAlgorithm, keyFormat: UAFKeyFormat, finalChallengeHash: [UInt8], keyID: KeyID,
    signCounter: UInt32, registrationCounter: UInt32, publicKey: [UInt8],
    extensions: [AssertionExtension] = []
  ) {
    self.aaid = aaid
    self.authenticatorVersion = authenticatorVersion
    self.mode = mode
    self.algorithm = algorithm
    self.keyFormat = keyFormat
    self.finalChallengeHash = finalChallengeHash
    self.keyID = keyID
    self.signCounter = signCounter
    self.registrationCounter = registrationCounter
    self.publicKey = publicKey
    self.extensions = extensions
  }

  /// The signed element with its tag and length.
  package var encoded: [UInt8] {
    var writer = TLVWriter()
    writer.write(.keyRegistrationData) { writer in
      writer.write(.aaid, aaid.text.utf8)
      writer.write(.assertionInfo) { writer in
        writer.write(authenticatorVersion)
        writer.write(mode)
        writer.write(algorithm.rawValue)
        writer.write(keyFormat.rawValue)
      }
      writer.write(.finalChallengeHash, finalChallengeHash)
      writer.write(.keyID, keyID.bytes)
      writer.write(.counters) { writer in
        writer.write(signCounter)
        writer.write(registrationCounter)
      }
      writer.write(.publicKey, publicKey)
      for item in extensions { item.write(to: &writer) }
    }
    return writer.bytes
  }
}
