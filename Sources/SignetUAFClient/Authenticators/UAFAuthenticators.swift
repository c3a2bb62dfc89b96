import SignetCrypto
import SignetIdentifiers
import SignetPolicy
import SignetProtocol
import SignetUAF
import SignetVault

/// The five authenticators of this device, over its vault.
///
/// Each authenticator first verifies the user and returns a token, then processes a command with that token
/// (`acceptsUserVerifyTokens`). A failed verification thus has a detailed error, while commands and answers follow the protocol.
package actor UAFAuthenticators {
  let store: UAFKeyStore
  let fingerprint: (any BiometricGate)?
  let face: (any BiometricGate)?
  let passcode: (any DevicePasscode)?
  private let requireIntegrity: @Sendable () async throws(SignetError) -> Void
  private var tokens: [(token: [UInt8], verified: Verified)] = []

  /// The verification that a token stands for.
  enum Verified {
    /// The user has enrolled; the protection is for one new key.
    case enrolled(UAFAuthenticator.Kind, DomainDraft.Protection, server: String?)
    /// The user is verified; the key may sign once.
    case unlocked(KeyID, ContainerSigningKey)
  }

  private static let maximumTokenCount = 32
  private static let tokenByteCount = 32

  init(
    store: UAFKeyStore, fingerprint: (any BiometricGate)?, face: (any BiometricGate)?,
    passcode: (any DevicePasscode)?,
    requireIntegrity: @escaping @Sendable () async throws(SignetError) -> Void
  ) {
    self.requireIntegrity = requireIntegrity
    self.store = store
    self.fingerprint = fingerprint
    self.face = face
    self.passcode = passcode
  }

  nonisolated var vault: Vault { store.vault }

  nonisolated func statement(of kind: UAFAuthenticator.Kind) -> MetadataStatement {
    kind.model.statement(inHardware: vault.keystoreKind != .software)
  }

  nonisolated func aaid(of kind: UAFAuthenticator.Kind) -> AAID {
    kind.model.aaid(inHardware: vault.keystoreKind != .software)
  }

  /// Returns whether the device supports an authenticator and whether its user is enrolled.
  nonisolated func availability(
    of kind: UAFAuthenticator.Kind
  ) async -> (isSupported: Bool, isEnrolled: Bool) {
    switch kind {
    case .pin, .password: return (true, true)
    case .fingerprint, .face:
      do throws(BiometricFailure) {
        switch try await gate(of: kind)?.state() {
        case .ready: return (true, true)
        case .notEnrolled: return (true, false)
        case .notCapable, nil: return (false, false)
        }
      } catch { return (false, false) }  // a sensor without a state cannot be used now
    case .devicePasscode:
      let isReady = await passcode?.state() == .ready
      return (isReady, isReady)
    }
  }

  private nonisolated func gate(of kind: UAFAuthenticator.Kind) -> (any BiometricGate)? {
    kind == .face ? face : fingerprint
  }

  // MARK: User verification

  /// Enrols the user for a new key: validates the new PIN or password, or lets the system verify the user.
  ///
  /// - Parameters:
  ///   - kind: The authenticator.
  ///   - authentication: The new PIN or password, or a prompt.
  ///   - isBoundToEnrolled: True if the key is lost when the enrolled fingers or faces change.
  ///   - allowsPasscode: True if the device passcode, if there is one, also unlocks the key of a finger or a face.
  ///   - server: The server that requests the key; `nil` if it has no name.
  /// - Returns: The token for one registration.
  /// - Throws: ``UAFFailure``.
  package func enrol(
    _ kind: UAFAuthenticator.Kind, by authentication: Authentication, isBoundToEnrolled: Bool = true,
    allowsPasscode: Bool = false, for server: String? = nil
  ) async throws(UAFFailure) -> [UInt8] {
    try await refuseTampering()
    let aaid = aaid(of: kind)
    let protection: DomainDraft.Protection
    switch (kind, authentication) {
    case (.pin, .password(let secret)), (.password, .password(let secret)):
      if let problem = Self.problem(of: secret, for: kind) {
        throw .unusableSecret(aaid: aaid.text, problem)
      }
      protection = .password(secret, .fiveAttempts)
    case (.fingerprint, .biometrics(let reason, let hints)), (.face, .biometrics(let reason, let hints)):
      guard let gate = gate(of: kind) else { throw UAFFailure(.biometric(.notCapable), aaid) }
      let enrolled: EnrolledSet
      do throws(BiometricFailure) { enrolled = try await gate.match(reason, hints: hints) } catch {
        throw UAFFailure(.biometric(error), aaid, during: .register)
      }
      let hasPasscode = await passcode?.state() == .ready
      protection = .biometrics(
        isBoundToEnrolled ? enrolled : nil, orPasscode: allowsPasscode && hasPasscode)
    case (.devicePasscode, .passcode(let reason, let conversation)):
      guard let passcode else { throw UAFFailure(.passcode(.notCapable), aaid) }
      do throws(DevicePasscodeFailure) {
        try await passcode.verify(reason, conversation: conversation)
      } catch { throw UAFFailure(.passcode(error), aaid, during: .register) }
      protection = .devicePasscode
    default: throw Self.wrongMethod
    }
    return remember(.enrolled(kind, protection, server: server))
  }

  /// Verifies the user for one use of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - kind: Its authenticator.
  ///   - authentication: The PIN or password, or a prompt.
  /// - Returns: The token for one signature.
  /// - Throws: ``UAFFailure``.
  package func verify(
    _ key: KeyID, of kind: UAFAuthenticator.Kind, by authentication: Authentication
  ) async throws(UAFFailure) -> [UInt8] {
    try await refuseTampering()
    switch (kind, authentication) {
    case (.pin, .password), (.password, .password), (.fingerprint, .biometrics), (.face, .biometrics),
      (.fingerprint, .passcode), (.face, .passcode), (.devicePasscode, .passcode):
      break
    default: throw Self.wrongMethod
    }
    do throws(VaultFailure) {
      guard let id = try await vault.uafContainer() else { throw .noSuchRecord(name: key.text) }
      let domain = StoredUAFKey.domain(key)
      let signingKey: ContainerSigningKey
      switch authentication {
      case .password(let secret):
        signingKey = try self.signingKey(
          in: await vault.open(domain, of: id, with: .password(secret.withSecret { $0.copy() })))
      case .biometrics(let reason, let hints):
        guard let gate = gate(of: kind) else { throw .biometric(.notCapable) }
        signingKey = try self.signingKey(
          in: await vault.openWithBiometrics(domain, of: id, with: gate, reason: reason, hints: hints))
      case .passcode(let reason, let conversation):
        guard let passcode else { throw .passcode(.notCapable) }
        signingKey = try self.signingKey(
          in: await vault.openWithPasscode(
            domain, of: id, with: passcode, reason: reason, conversation: conversation))
      }
      return remember(.unlocked(key, signingKey))
    } catch {
      if case .noSuchSlot(_, .devicePasscode) = error, kind != .devicePasscode { throw Self.wrongMethod }
      throw await failure(error, of: key, aaid(of: kind))
    }
  }

  /// Rejects every verification if the integrity guards report tampering.
  private func refuseTampering() async throws(UAFFailure) {
    do throws(SignetError) { try await requireIntegrity() } catch { throw .device(error) }
  }

  private static let wrongMethod = UAFFailure.protocol(
    .authenticatorAccessDenied, "this authenticator does not support that method of user verification")

  private nonisolated func signingKey(
    in unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) -> ContainerSigningKey {
    do {
      return try unlocked.withRecord(VaultLayout.signingKey) {
        try ContainerSigningKey(record: SecretBytes(copying: $0), in: vault)
      }
    } catch {
      switch error {
      case let failure as VaultFailure: throw failure
      case let failure as CryptoFailure: throw .crypto(failure)
      default: throw .damaged
      }
    }
  }

  /// The problem of a new PIN or password; `nil` if it is acceptable.
  static func problem(of secret: SharedSecretBox, for kind: UAFAuthenticator.Kind) -> UAFSecretProblem? {
    secret.withSecret { secret in
      secret.withTemporaryArray { typed in
        if kind == .pin {
          let counts = UAFAuthenticatorModel.minimumPINLength...UAFAuthenticatorModel.maximumPINLength
          guard typed.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return .notDigits
          }
          guard counts.contains(typed.count) else { return .digitCount(counts) }
          return CommonPINs.contains(typed) ? .tooCommon : nil
        }
        do throws(OpaqueStringFailure) {
          var prepared = try OpaqueString.prepare(utf8: typed)
          prepared.wipe()
          return nil
        } catch { return .text(error) }
      }
    }
  }

  /// Returns the lock status of a key.
  nonisolated func protectionStatus(of key: KeyID) async throws(VaultFailure) -> LockStatus {
    guard let id = try await vault.uafContainer() else { throw .noSuchRecord(name: key.text) }
    let slots = try await vault.domains(of: id).filter { $0.name == StoredUAFKey.domain(key) }
    guard !slots.isEmpty else { throw .noSuchRecord(name: key.text) }
    return slots.map(\.status).first { $0 != .unlocked } ?? .unlocked
  }

  /// Converts a failure of the vault for a key, with the lock status of the key.
  nonisolated func failure(_ failure: VaultFailure, of key: KeyID, _ aaid: AAID) async -> UAFFailure {
    UAFFailure(failure, aaid, await statusAfter(failure, key))
  }

  private nonisolated func statusAfter(_ failure: VaultFailure, _ key: KeyID) async -> LockStatus {
    guard case .wrongPassword(let remaining) = failure else { return .unlocked }
    do throws(VaultFailure) { return try await protectionStatus(of: key) } catch {
      return .lastAttemptFailed(remaining: remaining, retryAfter: .zero)
    }
  }

  // MARK: Tokens

  private func remember(_ verified: Verified) -> [UInt8] {
    let token = SecureRandom.bytes(Self.tokenByteCount)
    tokens.append((token, verified))
    if tokens.count > Self.maximumTokenCount { tokens.removeFirst() }
    return token
  }

  /// Returns the verification of a token and consumes the token.
  func redeem(_ token: [UInt8]?) -> Verified? {
    guard let token, let index = tokens.firstIndex(where: { $0.token == token }) else { return nil }
    return tokens.remove(at: index).verified
  }

  /// Returns the key that a token was issued for, without consuming the token.
  func key(of token: [UInt8]?) -> KeyID? {
    guard let token, case .unlocked(let key, _) = tokens.first(where: { $0.token == token })?.verified else {
      return nil
    }
    return key
  }

  /// Discards an unused token.
  func forget(_ token: [UInt8]) { tokens.removeAll { $0.token == token } }
}
