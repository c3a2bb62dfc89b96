#if os(Linux)
  public import SignetCrypto
  public import SignetVault

  /// Two layers protect a guess-limited secret.
  ///
  /// The first is a PIN FAIL index: the TPM counts wrong values and, at the limit, rejects the right one too. The policy of the
  /// index lets no program write the count. The TPM's owner can remove the index and make one of the same Name with another value.
  /// So the sealed object also requires a value derived from the guess, and the TPM's global lockout limits wrong tries at it.
  extension TPMKeystore: GuessLimitingKeystore {
    private static let indexPurpose = "signet tpm guess index v1"
    private static let objectPurpose = "signet tpm guess object v1"

    /// Chooses a free handle, and the salt of the future index.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func chooseLocation() throws(KeystoreFailure) -> [UInt8] {
      try converse { conversation throws(TPMFailure) in
        TPMBlob.plannedIndex(try conversation.plan(.guesses)).bytes
      }
    }

    /// Seals a secret behind its own NV index.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    /// - Precondition: The limit is 1 to 100, and the secret is not empty.
    public func seal(
      _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int,
      at location: [UInt8]
    ) throws(KeystoreFailure) -> [UInt8] {
      precondition((1...100).contains(limit), "a limit of \(limit) guesses is not in 1...100")
      try Self.check(secret)
      guard case .plannedIndex(let plan) = TPMBlob(location) else { throw .refused }
      let digest = AuthorizationValues.digest(ofContext: context)
      let indexValue = AuthorizationValues.ofGuess(authorization, contextDigest: digest, Self.indexPurpose)
      let objectValue = AuthorizationValues.ofGuess(authorization, contextDigest: digest, Self.objectPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        try TPMFailure.meaning([TPMResponse.nvDefined: .busy]) { () throws(TPMFailure) in
          try conversation.define(plan, value: indexValue, saltedFor: parent)
        }
        do throws(TPMFailure) {
          try conversation.writeLimit(limit, to: plan, saltedFor: parent)
          let created = try conversation.create(
            ObjectTemplate.guessLimitedData(policy: Self.policy(plan)), value: objectValue, data: secret,
            under: parent)
          return TPMBlob.guessLimited(created.object(under: parent), plan, contextDigest: digest).bytes
        } catch {
          try conversation.undefine(plan)
          throw error
        }
      }
    }

    /// Opens a secret, or counts a wrong guess.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func unseal(
      _ blob: [UInt8], context: [UInt8], authorization: borrowing SecretBytes
    ) throws(KeystoreFailure) -> GuessOutcome {
      let digest = AuthorizationValues.digest(ofContext: context)
      guard case .guessLimited(let object, let plan, digest) = TPMBlob(blob) else { throw .refused }
      let indexValue = AuthorizationValues.ofGuess(authorization, contextDigest: digest, Self.indexPurpose)
      let objectValue = AuthorizationValues.ofGuess(authorization, contextDigest: digest, Self.objectPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent(named: object.parentName)
        // Load before guessing, so that a changed blob costs no guess.
        let template = ObjectTemplate.guessLimitedData(policy: Self.policy(plan), unique: object.unique)
        let loaded = try conversation.load(object.privatePart, template, under: parent)
        try conversation.require(plan)
        switch try conversation.policySession(withGuess: indexValue, at: plan, saltedFor: parent) {
        case .right(let policy):
          let secret = try TPMFailure.meaning([
            TPMResponse.badAuth: .refused, TPMResponse.authFail: .refused, TPMResponse.policyFail: .refused,
          ]) { () throws(TPMFailure) in try conversation.unseal(loaded, policy, value: objectValue) }
          return .opened(secret)
        case .wrong:
          try conversation.recheck(plan)
          return .wrong(remaining: try conversation.guessCount(of: plan, saltedFor: parent).remaining)
        case .notCompared:
          try conversation.recheck(plan)
          // A rejection is not authenticated, but the count is.
          guard try conversation.guessCount(of: plan, saltedFor: parent).remaining == 0 else {
            throw .keystore(.disconnected)
          }
          return .lockedOut
        }
      }
    }

    /// The number of wrong guesses that the TPM still allows.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func guessesLeft(_ blob: [UInt8]) throws(KeystoreFailure) -> Int {
      guard case .guessLimited(let object, let plan, _) = TPMBlob(blob) else { throw .refused }
      return try converse { conversation throws(TPMFailure) in
        // Distinguishes a replaced TPM from a missing index.
        let parent = try conversation.parent(named: object.parentName)
        guard try conversation.has(plan) else { throw .keystore(.countGone) }
        return try conversation.guessCount(of: plan, saltedFor: parent).remaining
      }
    }

    /// Removes the blob's index from the TPM.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func discard(_ blob: [UInt8]) throws(KeystoreFailure) {
      guard let plan = TPMBlob(blob)?.index else { return }
      try converse { conversation throws(TPMFailure) in
        guard try conversation.has(plan, orUnwritten: true) else { return }
        try conversation.undefine(plan)
      }
    }

    /// The policy of the sealed object: first the index's value, then the object's own.
    private static func policy(_ plan: IndexPlan) -> [UInt8] {
      var policy = PolicyDigest()
      policy.secret(name: plan.writtenName)
      policy.authValue()
      return policy.bytes
    }
  }
#endif
