import SignetPolicy
package import SignetStorage
package import SignetUAF
import SignetWire

extension AuthenticationEvidence {
  /// What the decision of a container shows.
  ///
  /// An approval is given on another channel than the one that it signs in, so none resists phishing (NIST SP 800-63B-4 section
  /// 3.2.5). Hardware is what the device says of itself.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - isSigned: Whether its signing key signed what was shown; digits that were typed come from a shared key.
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

  /// The same with the age of the device's last report.
  ///
  /// One that is from later than the answer, by more than clocks of servers may differ, is of no known age: a clock was set back.
  ///
  /// - Parameters:
  ///   - lastReport: When the report came, in seconds since 1970; `nil` for none.
  ///   - time: When the answer came.
  /// - Returns: The evidence.
  package func reported(_ lastReport: Int64?, at time: Int64) -> AuthenticationEvidence {
    var evidence = self
    evidence.reportAge = lastReport.flatMap { lastReport in
      // What does not fit is no time.
      let (age, overflow) = time.subtractingReportingOverflow(lastReport)
      return overflow || age < -RequestProof.leeway ? nil : max(0, age)
    }
    return evidence
  }

  /// The same of the approval of a transaction by a container, which has the number where there is one.
  func matching(_ transaction: TransactionRecord) -> AuthenticationEvidence {
    var evidence = self
    evidence.numberDigits = transaction.numberDigits
    return evidence
  }

  /// The same once the device has reported, which it does by itself where it is told that a report is due.
  var afterReport: AuthenticationEvidence {
    var evidence = self
    evidence.reportAge = 0
    return evidence
  }

  /// Whether the profile that the server gave the container has its user asked before the key is used.
  private static func verifiesUser(_ container: ContainerRecord, key: ContainerProfile.KeyName) -> Bool {
    do throws(WireFailure) {
      let profile = try ContainerProfile(stored: container.profile)
      return (profile.keys[key] ?? profile.protection) != .device
    } catch { return false }
  }
}

extension AuthenticationEvidence {
  /// What an answer by a key of a UAF authenticator can show, from the key alone: neither that it resists phishing nor that content is
  /// signed.
  ///
  /// The metadata of the model says where its keys lie and how it verifies users. Whether the key is of that model is attested, or the
  /// key's own word. Hardware counts that the metadata stated when the key was registered, and states still.
  ///
  /// - Parameters:
  ///   - credential: The key.
  ///   - model: Its model; `nil` where it is not known any more.
  package init(of credential: UAFCredentialRecord, _ model: AuthenticatorModel?) {
    self.init(.uaf)
    guard let statement = model?.statement else { return }
    if KeyProtection(rawValue: credential.keyProtection).isHardware, statement.keyProtection.isHardware {
      keyProtection = credential.modelProof == .attested ? .hardwareAttested : .hardwareClaimed
    }
    // Which of the ways was gone is not said, so the weakest counts.
    let verified = statement.userVerificationDetails.map { UserVerification.kinds(of: $0) }.min() ?? 0
    isUserVerified = verified > 0
    factors = 1 + verified
  }

  /// As ``init(of:_:)``, with the model that is known under the key's name.
  init(of credential: UAFCredentialRecord, among models: AuthenticatorModels?) {
    self.init(of: credential, credential.reference.flatMap { models?[$0.aaid] })
  }

  /// What the key could show: it signs what it shows, and resists phishing where it is asked in person, at the session that it
  /// signs in, which a transaction is not.
  func atBest(confirmingTransaction isTransaction: Bool) -> AuthenticationEvidence {
    var evidence = self
    (evidence.isPhishingResistant, evidence.isContentSigned) = (!isTransaction, true)
    return evidence
  }
}

extension AuthenticationEvidence {
  /// What an authenticator can show at best once it is in use; `nil` for one whose row was altered.
  package init?(atBestOf authenticator: AuthenticatorRecord, among models: AuthenticatorModels?) {
    guard authenticator.state != .altered else { return nil }
    switch authenticator.source {
    case .container(let container, _): self.init(of: container, isSigned: true)
    case .key(let key): self = Self(of: key, among: models).atBest(confirmingTransaction: false)
    // No requirement names tokens; one shows no more than an app.
    case .app, .token: self.init(.pushApp)
    }
  }
}

extension ServiceContext {
  /// What one of the keys shows that a transaction was confirmed with, as far as they are there still: the strongest of those that
  /// meet the first requirement that one meets, or else the strongest.
  ///
  /// Each of them has signed the content of the transaction.
  ///
  /// - Parameters:
  ///   - acceptance: How it was confirmed.
  ///   - transaction: The transaction.
  /// - Returns: What the key shows.
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
      if let able = shown.first(where: { settings.requirements.areMet([name], by: $0) }) { return able }
    }
    return shown.first ?? AuthenticationEvidence(.uaf)
  }
}

extension KeyProtection {
  /// Whether keys lie in hardware, and in no software beside.
  fileprivate var isHardware: Bool {
    !isDisjoint(with: [.hardware, .trustedEnvironment, .secureElement]) && !contains(.software)
  }
}

extension UserVerification {
  private static let knowledge: UserVerification = [.passcode, .pattern]
  private static let inherence: UserVerification = [
    .fingerprint, .voiceprint, .faceprint, .eyeprint, .handprint,
  ]

  /// How many kinds of factors all these ways verify together: something known, something the user is.
  fileprivate static func kinds(of methods: [MetadataStatement.VerificationMethod]) -> Int {
    [knowledge, inherence].count { kind in methods.contains { !$0.userVerification.isDisjoint(with: kind) } }
  }
}

extension TransactionRecord {
  /// The digits of the number that goes with an approval; 0 where none does.
  package var numberDigits: Int { sealedNumber.map { MasterKey.byteCount(ofSealed: $0) } ?? 0 }
}
