#if os(Linux)
  import Dispatch
  public import SignetCrypto
  public import SignetVault
  import Synchronization

  /// A keystore on a TPM 2.0: only this machine opens the secrets that it seals, and its keys never leave the TPM.
  ///
  /// Each call waits for its turn, loads objects, uses them and flushes them. The connection, the storage key and two
  /// sessions remain for calls that follow at once. After ``TPMTimeLimits/idle`` only the indices of guess limits and
  /// counters remain in the TPM. Calls block at most for the times in ``TPMTimeLimits``.
  ///
  /// Secrets cross the bus encrypted (AES-128-CFB), in sessions whose key is agreed with the TPM's storage key. Each blob
  /// contains the Name of that key. So another or a cleared TPM is detected before any secret is sent. A keystore makes all
  /// objects under the first key that it used.
  public final class TPMKeystore: HardwareKeystore {
    static let largestSecretByteCount = 128

    /// The address of the TPM.
    public let address: TPMAddress
    private let limits: TPMTimeLimits
    private let semaphore = DispatchSemaphore(value: 1)
    private let cached = Mutex(CachedConversation())
    private let memory = TPMMemory()
    private let openLink: @Sendable () throws(KeystoreFailure) -> any TPMLink

    /// Creates a keystore in the TPM at an address; the first operation connects to it.
    ///
    /// - Parameters:
    ///   - address: The address of the TPM.
    ///   - limits: The time-outs.
    public convenience init(_ address: TPMAddress = .standard, limits: TPMTimeLimits = TPMTimeLimits()) {
      self.init(address, limits: limits) { () throws(KeystoreFailure) in try DescriptorLink(address, limits) }
    }

    /// Creates a keystore whose links a test can observe or disturb.
    package init(
      _ address: TPMAddress, limits: TPMTimeLimits,
      openLink: @escaping @Sendable () throws(KeystoreFailure) -> any TPMLink
    ) {
      self.address = address
      self.limits = limits
      self.openLink = openLink
    }

    /// Opens a link like those of the keystore, for tests that wrap it.
    package static func link(
      to address: TPMAddress, _ limits: TPMTimeLimits = TPMTimeLimits()
    ) throws(KeystoreFailure) -> any TPMLink { try DescriptorLink(address, limits) }

    /// The kind `tpm2`.
    public var kind: KeystoreKind { .tpm2 }

    /// Seals a secret in an object whose authorization value is derived from the context.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    /// - Precondition: The secret is not empty: a TPM seals at least one byte.
    public func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
      try Self.check(secret)
      let value = AuthorizationValues.ofContext(context, Self.sealedPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        let created = try conversation.create(
          ObjectTemplate.sealedData(), value: value, data: secret, under: parent)
        return TPMBlob.sealed(created.object(under: parent)).bytes
      }
    }

    /// Opens a blob that this TPM sealed.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
      guard case .sealed(let object) = TPMBlob(blob) else { throw .refused }
      let value = AuthorizationValues.ofContext(context, Self.sealedPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent(named: object.parentName)
        let template = ObjectTemplate.sealedData(unique: object.unique)
        let loaded = try conversation.load(object.privatePart, template, under: parent)
        let session = try conversation.session(saltedFor: parent)
        return try TPMFailure.meaning([TPMResponse.badAuth: .refused, TPMResponse.authFail: .refused]) {
          () throws(TPMFailure) in try conversation.unseal(loaded, session, value: value)
        }
      }
    }

    private static let sealedPurpose = "signet tpm sealed v1"

    /// Rejects a secret that a TPM cannot seal.
    static func check(_ secret: borrowing SecretBytes) throws(KeystoreFailure) {
      precondition(secret.byteCount > 0, "an empty secret needs no sealing")
      guard secret.byteCount <= largestSecretByteCount else { throw .secretTooLong }
    }

    // MARK: Conversations

    /// Runs `body` in a conversation with the TPM, when it is this call's turn.
    ///
    /// If a conversation was cached, it is used first. If it fails before any lasting effect, the TPM may have been restarted,
    /// and `body` runs once more in a new one. If the TPM has no free slot and no resource manager, leftovers of killed
    /// programs are flushed and `body` runs again.
    package func converse<R: ~Copyable>(_ body: (Conversation) throws(TPMFailure) -> R)
      throws(KeystoreFailure) -> R
    {
      guard wait(limits.access) else { throw .busy }
      defer { semaphore.signal() }
      if let cached = removeCached() {
        do throws(TPMFailure) { return try attempt(cached, body) } catch  where cached.hasLastingEffect {
          throw error.keystoreFailure
        } catch {}
      }
      let link = try openLink()
      do throws(TPMFailure) { return try attempt(try Conversation(link, memory), body) } catch {
        guard error.isOutOfSlots, !address.hasResourceManager else { throw error.keystoreFailure }
      }
      try LeftoverSweep.run(link)
      do throws(TPMFailure) { return try attempt(try Conversation(link, memory), body) } catch {
        throw error.keystoreFailure
      }
    }

    private func attempt<R: ~Copyable>(
      _ conversation: Conversation, _ body: (Conversation) throws(TPMFailure) -> R
    ) throws(TPMFailure) -> R {
      conversation.hasLastingEffect = false
      let result: R
      do throws(TPMFailure) { result = try body(conversation) } catch  where error.kind == TPMResponse.lockout
      {
        throw .keystore(.defending(seconds: try conversation.lockout().secondsLeft))
      }
      conversation.endCall()
      store(conversation)
      return result
    }

    private func wait(_ duration: Duration) -> Bool {
      let (seconds, attoseconds) = duration.components
      return semaphore.wait(timeout: .now() + (Double(seconds) + Double(attoseconds) / 1e18)) == .success
    }

    /// Keeps a conversation for the next call, unless other programs must get access to the TPM now.
    private func store(_ conversation: Conversation) {
      let now = ContinuousClock.now
      guard address.hasResourceManager || now - conversation.start < limits.stretch else { return }
      guard limits.idle > .zero else { return }
      let isScheduled = cached.withLock { cached in
        cached.conversation = conversation
        cached.lastUse = now
        defer { cached.isReleaseScheduled = true }
        return cached.isReleaseScheduled
      }
      if !isScheduled { scheduleRelease(after: limits.idle) }
    }

    private func removeCached() -> Conversation? {
      cached.withLock { cached in
        defer { cached.conversation = nil }
        // Time since boot includes sleep, during which the TPM may have been restarted.
        return ContinuousClock.now - cached.lastUse < limits.idle + limits.idle ? cached.conversation : nil
      }
    }

    private func scheduleRelease(after duration: Duration) {
      let nanoseconds = Int(duration / .nanoseconds(1))
      Self.releases.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
        self?.releaseIfIdle()
      }
    }

    private func releaseIfIdle() {
      // A running call has removed the conversation and returns it later.
      guard wait(.zero) else { return scheduleRelease(after: max(limits.idle, .milliseconds(1))) }
      defer { semaphore.signal() }
      let (released, rest): (Conversation?, Duration?) = cached.withLock { cached in
        let remaining = limits.idle - (ContinuousClock.now - cached.lastUse)
        if cached.conversation != nil, remaining > .zero { return (nil, remaining) }
        defer { (cached.conversation, cached.isReleaseScheduled) = (nil, false) }
        return (cached.conversation, nil)
      }
      if let rest { scheduleRelease(after: rest) }
      _ = released  // ends here, outside of the lock
    }

    private struct CachedConversation {
      var conversation: Conversation?
      var lastUse = ContinuousClock.now
      var isReleaseScheduled = false
    }

    /// A separate queue: releasing communicates with the TPM, and so may block.
    private static let releases = DispatchQueue(label: "signet.tpm.release")
  }

  extension Conversation.CreatedObject {
    /// The part of the object that a blob stores.
    func object(under parent: Parent) -> TPMBlob.TPMObject {
      TPMBlob.TPMObject(parentName: parent.name, unique: unique, privatePart: privatePart)
    }
  }

  /// The time-outs of a keystore that uses a TPM.
  public struct TPMTimeLimits: Sendable, Hashable {
    /// The wait for another program that is using the TPM.
    public var access: Duration
    /// The wait for the answer to one command; a TPM self-test may take seconds.
    public var answer: Duration
    /// The time that a connection stays open for the next call; it occupies three of the TPM's slots.
    ///
    /// If the TPM has no resource manager, other programs wait for this time.
    public var idle: Duration
    /// The maximum time that consecutive calls may use one connection while other programs wait for it.
    public var stretch: Duration

    /// Creates limits; the defaults suit hardware: 10 s, 30 s, 20 ms and 200 ms.
    public init(
      access: Duration = .seconds(10), answer: Duration = .seconds(30), idle: Duration = .milliseconds(20),
      stretch: Duration = .milliseconds(200)
    ) {
      self.access = access
      self.answer = answer
      self.idle = idle
      self.stretch = stretch
    }
  }
#endif
