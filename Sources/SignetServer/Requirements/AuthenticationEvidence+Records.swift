import SignetPolicy
import SignetProtocol
package import SignetStorage
package import SignetUAF

extension AuthenticationEvidence {
  /// Creates the evidence of a container's decision.
  ///
  /// A user approves on another channel than the session that signs in, so no approval resists phishing (NIST SP 800-63B-4
  /// section 3.2.5). The device itself claims that its keys are in hardware.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - isSigned: True if its signing key signed the shown content; typed digits come from a shared key.
  package init(of container: ContainerRecord, isSigned: Bool) {
    self.init(.container)
    isContentSigned = isSigned
    if isSigned, let origin = container.keyOrigin, origin != DeviceDescription.Keystore.software.rawValue,
      !container.isSimulated
    {
      keyProtection = .hardwareClaimed
    }
    isUserVerified = Self.verifiesUser(container, key: isSigned ? .signing : .otp)
    if isUserVerified { factors = 2 }
  }

  /// Returns this evidence with the age of the device's last report.
  ///
  /// If the report is later than the answer by more than servers' clocks may differ, a clock was set back and the age is
  /// unknown.
  ///
  /// - Parameters:
  ///   - lastReport: The time of the report, in seconds since 1970; `nil` for none.
  ///   - time: The time of the answer, in seconds since 1970.
  /// - Returns: The evidence.
  package func reported(_ lastReport: Int64?, at time: Int64) -> AuthenticationEvidence {
    var evidence = self
    evidence.reportAge = lastReport.flatMap { lastReport in
      // A difference that overflows is not a valid age.
      let (age, overflow) = time.subtractingReportingOverflow(lastReport)
      return overflow || age < -RequestProof.leeway ? nil : max(0, age)
    }
    return evidence
  }

  /// Returns this evidence for the approval of a transaction, with the length of its number if it has one.
  func matching(_ transaction: TransactionRecord) -> AuthenticationEvidence {
    var evidence = self
    evidence.numberDigits = transaction.numberDigits
    return evidence
  }

  /// This evidence after a new report; the device reports when the server asks for it.
  var afterReport: AuthenticationEvidence {
    var evidence = self
    evidence.reportAge = 0
    return evidence
  }

  /// Returns true if the container's profile requires user verification before the key is used.
  private static func verifiesUser(_ container: ContainerRecord, key: ContainerProfile.KeyName) -> Bool {
    do throws(WireFailure) {
      let profile = try ContainerProfile(stored: container.profile)
      return (profile.keys[key] ?? profile.protection) != .device
    } catch { return false }
  }
}

extension AuthenticationEvidence {
  /// Creates the evidence that a UAF key alone can give: no phishing resistance and no signed content.
  ///
  /// The metadata of the model states where its keys are and how it verifies users. The key's model is attested, or only
  /// claimed by the key. Hardware counts if the metadata stated it at the registration and still states it.
  ///
  /// - Parameters:
  ///   - credential: The key.
  ///   - model: Its model; `nil` if it is no longer known.
  package init(of credential: UAFCredentialRecord, _ model: AuthenticatorModel?) {
    self.init(.uaf)
    guard let statement = model?.statement else { return }
    if KeyProtection(rawValue: credential.keyProtection).isHardware, statement.keyProtection.isHardware {
      keyProtection = credential.modelProof == .attested ? .hardwareAttested : .hardwareClaimed
    }
    // The response does not state which verification method was used, so the weakest counts.
    let verified = statement.userVerificationDetails.map { UserVerification.kinds(of: $0) }.min() ?? 0
    isUserVerified = verified > 0
    factors = 1 + verified
  }

  /// Creates the evidence like ``init(of:_:)``, with the model of the key's AAID.
  init(of credential: UAFCredentialRecord, among models: AuthenticatorModels?) {
    self.init(of: credential, credential.reference.flatMap { models?[$0.aaid] })
  }

  /// Returns the best evidence of the key: signed content and, if no transaction is confirmed, phishing resistance.
  ///
  /// An authentication resists phishing because it runs in the session that it signs in; a transaction does not.
  func atBest(confirmingTransaction isTransaction: Bool) -> AuthenticationEvidence {
    var evidence = self
    (evidence.isPhishingResistant, evidence.isContentSigned) = (!isTransaction, true)
    return evidence
  }
}

extension AuthenticationEvidence {
  /// Creates the best evidence of an active authenticator; `nil` if its row was altered.
  package init?(atBestOf authenticator: AuthenticatorRecord, among models: AuthenticatorModels?) {
    guard authenticator.state != .altered else { return nil }
    switch authenticator.source {
    case .container(let container, _): self.init(of: container, isSigned: true)
    case .key(let key): self = Self(of: key, among: models).atBest(confirmingTransaction: false)
    // Requirements do not mention tokens; a token has no better evidence than an app.
    case .app, .token: self.init(.pushApp)
    }
  }
}

extension ServiceContext {
  /// Returns the evidence of a key that confirmed a transaction, if the key is still active.
  ///
  /// It is the strongest one that meets the first requirement that any of them meets, or else the strongest one. Each of the
  /// keys has signed the content of the transaction.
  ///
  /// - Parameters:
  ///   - acceptance: The confirmation.
  ///   - transaction: The transaction.
  /// - Returns: The evidence.
  /// - Throws: ``StorageFailure``.
  func evidence(
    of acceptance: UAFAcceptance, for transaction: TransactionRecord
  ) async throws -> AuthenticationEvidence {
    var shown: [AuthenticationEvidence] = []
    let session = try await storage.uafOperation(acceptance.session)
    for key in session?.end.flatMap(UAFKeys.used) ?? [] {
      let found = try await storage.uafCredential(aaid: key.aaid.stored, keyID: key.keyID.bytes)
      guard let found, found.state == .active else { continue }
      var evidence = AuthenticationEvidence(of: found, among: uaf?.models)
      evidence.isContentSigned = true
      shown.append(evidence)
    }
    shown.sort { ($0.keyProtection, $0.factors) > ($1.keyProtection, $1.factors) }
    for name in transaction.requirements {
      if let match = shown.first(where: { settings.requirements.areMet([name], by: $0) }) { return match }
    }
    return shown.first ?? AuthenticationEvidence(.uaf)
  }
}

extension KeyProtection {
  /// True if keys are in hardware only.
  fileprivate var isHardware: Bool {
    !isDisjoint(with: [.hardware, .trustedEnvironment, .secureElement]) && !contains(.software)
  }
}

extension UserVerification {
  private static let knowledge: UserVerification = [.passcode, .pattern]
  private static let inherence: UserVerification = [
    .fingerprint, .voiceprint, .faceprint, .eyeprint, .handprint,
  ]

  /// Returns the number of kinds of factors that the methods verify together: knowledge and biometrics.
  fileprivate static func kinds(of methods: [MetadataStatement.VerificationMethod]) -> Int {
    [knowledge, inherence].count { kind in methods.contains { !$0.userVerification.isDisjoint(with: kind) } }
  }
}

extension TransactionRecord {
  /// The number of digits that an approval must contain; 0 for none.
  package var numberDigits: Int { sealedNumber.map { MasterKey.byteCount(ofSealed: $0) } ?? 0 }
}
