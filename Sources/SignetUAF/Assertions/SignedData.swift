/// The data that an authenticator signs about the use of a key (TAG_UAFV1_SIGNED_DATA).
package struct SignedData: Hashable, Sendable {
  package var aaid: AAID
  package var authenticatorVersion: UInt16
  /// The value of `authenticationMode` as received.
  package var mode: UInt8
  package var algorithm: UAFAlgorithm
  /// The random nonce of the authenticator, at least 8 bytes.
  package var nonce: [UInt8]
  package var finalChallengeHash: [UInt8]
  /// The hash of the confirmed transaction; empty if there was none.
  package var transactionHash: [UInt8]
  package var keyID: KeyID
  package var signCounter: UInt32
  package var extensions: [AssertionExtension]

  package init(
    aaid: AAID, authenticatorVersion: UInt16, mode: UInt8, algorithm: UAFAlgorithm, nonce: [UInt8],
    finalChallengeHash: [UInt8], transactionHash: [UInt8] = [], keyID: KeyID, signCounter: UInt32,
    extensions: [AssertionExtension] = []
  ) {
    self.aaid = aaid
    self.authenticatorVersion = authenticatorVersion
    self.mode = mode
    self.algorithm = algorithm
    self.nonce = nonce
    self.finalChallengeHash = finalChallengeHash
    self.transactionHash = transactionHash
    self.keyID = keyID
    self.signCounter = signCounter
    self.extensions = extensions
  }

  /// The signed element with its tag and length.
  package var encoded: [UInt8] {
    var writer = TLVWriter()
    writer.write(.signedData) { writer in
      writer.write(.aaid, aaid.text.utf8)
      writer.write(.assertionInfo) { writer in
        writer.write(authenticatorVersion)
        writer.write(mode)
        writer.write(algorithm.rawValue)
      }
      writer.write(.authenticatorNonce, nonce)
      writer.write(.finalChallengeHash, finalChallengeHash)
      writer.write(.transactionContentHash, transactionHash)
      writer.write(.keyID, keyID.bytes)
      writer.write(.counters) { $0.write(signCounter) }
      for item in extensions { item.write(to: &writer) }
    }
    return writer.bytes
  }
}
