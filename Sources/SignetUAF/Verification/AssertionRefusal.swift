package import SignetCrypto

/// The reasons to reject an assertion.
package enum AssertionRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The assertion scheme is unknown, or not the model's.
  case scheme
  /// The assertion is malformed.
  case malformed(AssertionFailure)
  /// An unknown extension of the assertion must not be ignored.
  case unknownExtension(String)
  /// The server has no metadata of the model.
  case unknownModel(AAID)
  /// The policy does not accept the model, or disallows it.
  case notInPolicy(AAID)
  /// The claimed action of the user is not the expected one.
  case mode(UInt8)
  /// The assertion is for another final challenge.
  case finalChallengeHash
  /// The algorithm is not the model's, or it is unsupported.
  case algorithm(UAFAlgorithm)
  /// The key format is not the model's.
  case keyFormat(UAFKeyFormat)
  /// The public key is invalid.
  case publicKey(UAFKeyFailure)
  /// The key is already registered.
  case keyExists
  /// An earlier assertion of the response is for the same key.
  case repeatedKey
  /// The model does not use this attestation type.
  case attestationType(AttestationType)
  /// The policy prefers another attestation type that the model supports.
  case attestationPreference(AttestationType)
  /// ECDAA attestation is unsupported.
  case ecdaa
  /// The certificates do not lead to one that is trusted for the model.
  case certificate(TrustAnchors.Refusal)
  /// The certificate's key usage excludes signatures.
  case certificateUsage
  /// The certificate is a certificate authority's, which must not attest keys.
  case certificateAuthority
  /// The certificate names another model.
  case certificateModel
  /// The certificate names no model, and its path can attest several.
  case certificateModelMissing
  /// The certificate's key cannot be used.
  case attestationKey(UAFKeyFailure)
  /// The signature of the attestation does not verify.
  case attestationSignature
  /// The key is not registered for this user.
  case unknownKey
  /// The counter did not increase: a replayed message, or a clone of the authenticator.
  case counter(stored: UInt32, received: UInt32)
  /// The hash of the allegedly confirmed transaction is missing.
  case transactionHashMissing
  /// The hash is that of another transaction.
  case transactionHash
  /// There is a transaction hash, but no transaction was requested or claimed to be confirmed.
  case transactionHashUnexpected
  /// A transaction was to be confirmed, but the user was only verified.
  case transactionNotConfirmed
  /// The signature does not verify.
  case signature

  /// The status that the server returns to the client.
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
    case .repeatedKey: "an earlier assertion has the same key"
    case .attestationType(let type): "the model does not use the attestation \(type)"
    case .attestationPreference(let type): "the policy prefers another attestation to \(type)"
    case .ecdaa: "attestation by ECDAA is not supported"
    case .certificate(let refusal): "the attestation certificate: \(refusal)"
    case .certificateUsage: "the attestation certificate's key is not for signatures"
    case .certificateAuthority: "the attestation certificate is an authority's"
    case .certificateModel: "the attestation certificate is for another model"
    case .certificateModelMissing:
      "the attestation certificate does not name its model, and its trust anchor is used for other models, too"
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
