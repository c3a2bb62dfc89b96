package import SignetCrypto

/// Why one assertion is not accepted.
package enum AssertionRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// Its scheme is not known, or not its model's.
  case scheme
  /// It cannot be read.
  case malformed(AssertionFailure)
  /// An extension beside it has to be known and is not.
  case unknownExtension(String)
  /// There is no metadata of the model.
  case unknownModel(AAID)
  /// The policy does not accept the model, or disallows it.
  case notInPolicy(AAID)
  /// It says that the user did something else than was wanted.
  case mode(UInt8)
  /// It is about another final challenge.
  case finalChallengeHash
  /// The algorithm is not the model's, or not supported.
  case algorithm(UAFAlgorithm)
  /// The format of the key is not the model's.
  case keyFormat(UAFKeyFormat)
  /// The public key is none.
  case publicKey(UAFKeyFailure)
  /// The key is registered already.
  case keyExists
  /// An assertion before it is of the same key.
  case repeatedKey
  /// The model does not attest in this way.
  case attestationType(AttestationType)
  /// The policy prefers another attestation that the model has.
  case attestationPreference(AttestationType)
  /// Attestation by ECDAA is not supported.
  case ecdaa
  /// The certificates do not lead to one that is trusted for the model.
  case certificate(TrustAnchors.Refusal)
  /// The certificate's key is not for signatures.
  case certificateUsage
  /// The certificate is an authority's, which issues others and attests nothing.
  case certificateAuthority
  /// The certificate is for another model.
  case certificateModel
  /// The certificate does not say which model it is for, and its path vouches for several.
  case certificateModelMissing
  /// The certificate's key cannot be used.
  case attestationKey(UAFKeyFailure)
  /// The attestation is not signed by whom it says.
  case attestationSignature
  /// The key is not registered for this user.
  case unknownKey
  /// The counter did not grow: an older message, or a copy of the authenticator.
  case counter(stored: UInt32, received: UInt32)
  /// There is no hash of the transaction that is said to be confirmed.
  case transactionHashMissing
  /// The hash is of another transaction.
  case transactionHash
  /// There is a hash, but nothing was to be confirmed, or nothing is said to be.
  case transactionHashUnexpected
  /// A transaction was to be confirmed, and the user was only verified.
  case transactionNotConfirmed
  /// The signature is wrong.
  case signature

  /// What the server says to the client.
  package var status: UAFStatus {
    switch self {
    case .unknownModel: .unknownAAID
    case .unknownKey: .unknownKeyID
    case .notInPolicy: .unacceptableAuthenticator
    case .algorithm: .unacceptableAlgorithm
    case .keyFormat, .publicKey: .unacceptableKey
    case .attestationType, .attestationPreference, .ecdaa, .certificate, .certificateUsage,
      .certificateAuthority,
      .certificateModel, .certificateModelMissing, .attestationKey, .attestationSignature:
      .unacceptableAttestation
    default: .unacceptableContent
    }
  }

  package var description: String {
    switch self {
    case .scheme: "the assertion scheme is not known, or not the model's"
    case .malformed(let failure): failure.description
    case .unknownExtension(let id): "the extension \"\(id)\" must not be ignored and is not known"
    case .unknownModel(let aaid): "there is no metadata of \(aaid)"
    case .notInPolicy(let aaid): "the policy does not accept \(aaid)"
    case .mode(let mode): "the authentication mode is \(mode)"
    case .finalChallengeHash: "the final challenge hash is not that of fcParams"
    case .algorithm(let algorithm): "the signature algorithm is \(algorithm), which is not the model's"
    case .keyFormat(let format): "the key format is \(format), which is not the model's"
    case .publicKey(let failure): failure.description
    case .keyExists: "the key is registered already"
    case .repeatedKey: "an assertion before it is of the same key"
    case .attestationType(let type): "the model does not attest by \(type)"
    case .attestationPreference(let type): "the policy prefers another attestation to \(type)"
    case .ecdaa: "attestation by ECDAA is not supported"
    case .certificate(let refusal): "the attestation certificate: \(refusal)"
    case .certificateUsage: "the attestation certificate's key is not for signatures"
    case .certificateAuthority: "the attestation certificate is an authority's"
    case .certificateModel: "the attestation certificate is for another model"
    case .certificateModelMissing:
      "the attestation certificate does not name its model, and what it leads to vouches for others too"
    case .attestationKey(let failure): failure.description
    case .attestationSignature: "the signature of the attestation is not valid"
    case .unknownKey: "the key is not registered for this user"
    case .counter(let stored, let received): "the counter is \(received) after \(stored)"
    case .transactionHashMissing: "the hash of the confirmed transaction is missing"
    case .transactionHash: "the hash is of another transaction"
    case .transactionHashUnexpected: "there is a transaction hash where nothing was confirmed"
    case .transactionNotConfirmed: "the transaction was not confirmed"
    case .signature: "the signature is not valid"
    }
  }
}
