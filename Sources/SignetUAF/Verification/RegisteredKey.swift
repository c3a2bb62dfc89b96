/// A key that is registered, as a server stored it.
package struct RegisteredKey: Sendable {
  package let reference: KeyReference
  package let publicKey: UAFPublicKey
  /// The algorithm of its registration, which it keeps.
  package let algorithm: UAFAlgorithm
  /// The last counter; 0 where the authenticator does not count.
  package let signCounter: UInt32

  package init(
    reference: KeyReference, publicKey: UAFPublicKey, algorithm: UAFAlgorithm, signCounter: UInt32
  ) {
    self.reference = reference
    self.publicKey = publicKey
    self.algorithm = algorithm
    self.signCounter = signCounter
  }
}
