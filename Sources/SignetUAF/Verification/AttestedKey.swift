/// A new key with a verified attestation; only the verification creates one.
package struct AttestedKey: Sendable {
  package let reference: KeyReference
  package let publicKey: UAFPublicKey
  /// The key in the authenticator's encoding.
  package let encodedKey: [UInt8]
  package let algorithm: UAFAlgorithm
  package let keyFormat: UAFKeyFormat
  package let signCounter: UInt32
  package let registrationCounter: UInt32
  package let authenticatorVersion: UInt16
  /// The attestation type; a surrogate proves possession of the key and nothing about the model.
  package let attestation: AttestationType
  /// Indicates whether the authenticator is older than its metadata, which is a risk.
  package let isOutdated: Bool
  package let pngCharacteristics: [DisplayPNGCharacteristics]
  /// The signed extensions.
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

  /// The registered key against which later authentications are verified.
  package var registered: RegisteredKey {
    RegisteredKey(reference: reference, publicKey: publicKey, algorithm: algorithm, signCounter: signCounter)
  }
}
