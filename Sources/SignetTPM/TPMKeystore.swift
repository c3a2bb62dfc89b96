#if os(Linux)
  import Dispatch
  public import SignetCrypto
  public import SignetVault

  /// A TPM 2.0 as a keystore: what it seals opens on this machine only, and its keys never leave it.
  ///
  /// Each call is a conversation of its own with the TPM: it waits for its turn, does its work with what it loads, and flushes
  /// that. Nothing is kept between calls but the indices of guess limits and counters. Calls block for as long as
  /// ``TPMTimeLimits`` allow and no longer.
  ///
  /// Secrets cross the bus encrypted (AES-128-CFB), in sessions whose key is agreed on with the TPM's storage key. The Name of
  /// that key is in each blob, so another TPM, or one that was cleared, is told before it hears anything.
  public final class TPMKeystore: HardwareKeystore {
    static let largestSecretByteCount = 128

    /// Where the TPM is.
    public let address: TPMAddress
    private let limits: TPMTimeLimits
    private let turn = DispatchSemaphore(value: 1)
    private let openLink: @Sendable () throws(KeystoreFailure) -> any TPMLink

    /// A keystore in the TPM at an address, which is first looked for when something is sealed or opened.
    ///
    /// - Parameters:
    ///   - address: Where the TPM is.
    ///   - limits: How long to wait for it.
    public convenience init(_ address: TPMAddress = .standard, limits: TPMTimeLimits = TPMTimeLimits()) {
      self.init(address, limits: limits) { () throws(KeystoreFailure) in try DescriptorLink(address, limits) }
    }

    /// A keystore that reaches its TPM over links that a test listens to or disturbs.
    package init(
      _ address: TPMAddress, limits: TPMTimeLimits,
      openLink: @escaping @Sendable () throws(KeystoreFailure) -> any TPMLink
    ) {
      (self.address, self.limits, self.openLink) = (address, limits, openLink)
    }

    /// A link like those of the keystore, for tests that put their own around it.
    package static func link(
      to address: TPMAddress, _ limits: TPMTimeLimits = TPMTimeLimits()
    ) throws(KeystoreFailure) -> any TPMLink { try DescriptorLink(address, limits) }

    /// TPM 2.0.
    public var kind: KeystoreKind { .tpm2 }

    /// Seals a secret in an object whose authorization value is made of the context.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    /// - Precondition: The secret is not empty: a TPM seals at least one byte.
    public func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
      try Self.check(secret)
      let authorization = AuthorizationValues.ofContext(context, Self.sealedPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        let session = try conversation.startSession(saltedFor: parent.handle)
        let made = try conversation.create(
          ObjectTemplate.sealedData(), authorization: authorization, data: secret, under: parent, session)
        return TPMBlob.sealed(made.object(under: parent)).bytes
      }
    }

    /// Opens what this TPM sealed.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
      guard case .sealed(let object) = TPMBlob(blob) else { throw .refused }
      let authorization = AuthorizationValues.ofContext(context, Self.sealedPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent(named: object.parentName)
        let session = try conversation.startSession(saltedFor: parent.handle)
        let template = ObjectTemplate.sealedData(unique: object.unique)
        let handle = try conversation.load(object.privatePart, template, under: parent)
        try conversation.authorize(handle, with: authorization)
        defer { conversation.forgetAuthorization(of: handle) }
        return try TPMFailure.meaning([TPMResponse.badAuth: .refused, TPMResponse.authFail: .refused]) {
          () throws(TPMFailure) in try conversation.unseal(handle, session)
        }
      }
    }

    private static let sealedPurpose = "signet tpm sealed v1"

    /// Refuses what a TPM would not seal.
    static func check(_ secret: borrowing SecretBytes) throws(KeystoreFailure) {
      precondition(secret.byteCount > 0, "an empty secret needs no sealing")
      guard secret.byteCount <= largestSecretByteCount else { throw .secretTooLong }
    }

    // MARK: Conversations

    /// Has a conversation with the TPM, when it is our turn.
    ///
    /// Where the TPM has no place left and no resource manager, what killed programs left in it is swept out, and `body` runs
    /// once more.
    func converse<R: ~Copyable>(_ body: (Conversation) throws(TPMFailure) -> R) throws(KeystoreFailure) -> R {
      let (seconds, attoseconds) = limits.turn.components
      let wait = Double(seconds) + Double(attoseconds) / 1e18
      guard turn.wait(timeout: .now() + wait) == .success else { throw .busy }
      defer { turn.signal() }
      let link = try openLink()
      do throws(TPMFailure) { return try attempt(link, body) } catch {
        guard error.saysNoPlaceIsLeft, !address.hasResourceManager else { throw error.keystoreFailure }
      }
      try LeftoverSweep.run(link)
      do throws(TPMFailure) { return try attempt(link, body) } catch { throw error.keystoreFailure }
    }

    private func attempt<R: ~Copyable>(
      _ link: any TPMLink, _ body: (Conversation) throws(TPMFailure) -> R
    ) throws(TPMFailure) -> R {
      let conversation = try Conversation(link)
      do throws(TPMFailure) { return try body(conversation) } catch  where error.kind == TPMResponse.lockout {
        throw .keystore(.defending(seconds: try conversation.lockout().secondsLeft))
      }
    }
  }

  extension Conversation.MadeObject {
    /// What a blob keeps of the object.
    func object(under parent: Conversation.Parent) -> TPMBlob.TPMObject {
      TPMBlob.TPMObject(parentName: parent.name, unique: unique, privatePart: privatePart)
    }
  }
#endif
