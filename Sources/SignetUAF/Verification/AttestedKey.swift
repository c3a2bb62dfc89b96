/// A new key that its authenticator vouches for; only verifying makes one.
package struct AttestedKey: Sendable {
  package let reference: KeyReference
  package let publicKey: UAFPublicKey
  /// The key as the authenticator wrote it.
  package let encodedKey: [UInt8]
  package let algorithm: UAFAlgorithm
  package let keyFormat: UAFKeyFormat
  package let signCounter: UInt32
  package let registrationCounter: UInt32
  package let authenticatorVersion: UInt16
  /// How it was vouched for; a surrogate proves possession of the key and nothing about the model.
  package let attestation: AttestationType
  /// Whether the authenticator is older than what its metadata describes, which is a risk.
  package let isOutdated: Bool
  package let pngCharacteristics: [DisplayPNGCharacteristics]
  /// What the authenticator signed beyond the protocol.
  package let extensions: [AssertionExtension]

  init(
    reference: KeyReference, publicKey: UAFPublicKey, encodedKey: [UInt8], algorithm: UAFAlgorithm,
    keyFormat: UAFKeyFormat, signCounter: UInt32, registrationCounter: UInt32, authenticatorVersion: UInt16,
    attestation: AttestationType, isOutdated: Bool, pngCharacteristics: [DisplayPNGCharacteristics],
    extensions: [AssertionExtension]
  ) {
    self.reference = reference
    self.publicKey = publicKey
    self.encodedKey = encodedKey
    self.algorithm = algorithm
    self.keyFormat = keyFormat
    self.signCounter = signCounter
    self.registrationCounter = registrationCounter
    self.authenticatorVersion = authenticatorVersion
    self.attestation = attestation
    self.isOutdated = isOutdated
    self.pngCharacteristics = pngCharacteristics
    self.extensions = extensions
  }

  /// What later authentications are held against.
  package var registered: RegisteredKey {
    RegisteredKey(reference: reference, publicKey: publicKey, algorithm: algorithm, signCounter: signCounter)
  }
}
