import SignetCrypto
import SignetJSON
import SignetOATH
import SignetPolicy
import SignetProtocol
import SignetStorage

// The common parts of *finish* in an activation and in a renewal.

extension ServiceContext {
  /// Returns the receipt for a staged container, with the encrypted bytes that its confirmation must contain.
  func receipt(
    for container: ContainerRecord, _ user: UserID, _ keys: ContainerKeys,
    _ secrets: borrowing ActivationSecrets, _ serverKey: P256.Signing.PublicKey
  ) throws -> ActivationReceipt {
    let transcript = secrets.transcript
    return try ActivationReceipt(
      container: container.id, user: user, server: settings.serverURL,
      created: container.created, transcript: transcript,
      sealed: SealedConfirmation.seal(
        masterKey.confirmation(of: container.id), transcript: transcript, to: keys.encryption),
      serverKey: serverKey)
  }

  /// Only a device that proved the invite or the present keys gets this answer.
  static let keyTaken = Problem(.exists, "One of the keys belongs to another authenticator; make new ones.")

  /// Returns the body of the answer to *finish*: a receipt with the server's proof.
  func answer(
    _ receipt: ActivationReceipt, _ secrets: borrowing ActivationSecrets, type: String
  ) throws -> [UInt8] {
    let key = secrets.serverProofKey()
    let message = try SignedMessage.sign(receipt.bytes, key: key, type: type)
    return JSONValue.object(["message": .string(message)]).bytes
  }

  /// Returns the credential for a container's one-time passwords, pending like the container.
  func credential(
    of container: ContainerRecord, _ secret: consuming SecretBytes, _ profile: ContainerProfile
  ) throws -> CredentialRecord {
    CredentialRecord(
      id: ID(of: container.id), user: container.user, kind: .totp, algorithm: profile.totp.algorithm.rawValue,
      digits: profile.totp.digits, period: profile.totp.period,
      sealedSecret: try masterKey.seal(secret, for: .otpSecret(credential: ID(of: container.id))),
      isSilent: profile.protection(of: .otp).lockPolicy == .silent, created: container.created)
  }

  /// Rejects a device whose keystore the operator does not accept.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - actor: The device's name in the audit log.
  ///   - requester: The device's container or the activation; repeated entries for it are limited, so that it cannot fill
  ///     the log.
  ///   - refusal: Returns the event of a refusal; its argument is the kind of keystore.
  /// - Throws: ``Problem/Code/deviceUnsupported``, after the event was stored.
  func requireKeystore(
    of device: DeviceDescription, by actor: AuditActor, for requester: Storage.Requester,
    refusal: (_ kind: String) -> AuditEvent
  ) async throws {
    guard !settings.keystoreRequirement.accepts(device) else { return }
    let kind = device.keystoreText
    try await storage.appendRepeatable(audit(by: actor)(refusal(kind)), of: requester)
    throw Problem(
      .deviceUnsupported,
      settings.keystoreRequirement == .hardware
        ? "Keys must be stored in hardware; this device reports \(kind)."
        : "Keys must be stored in a TPM or similar hardware; this device reports \(kind).")
  }
}
