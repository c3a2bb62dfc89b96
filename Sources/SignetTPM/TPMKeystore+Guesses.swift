#if os(Linux)
  public import SignetCrypto
  public import SignetVault

  /// Two layers stand before such a secret. The first is a PIN FAIL index: the TPM counts wrong values and refuses the right one
  /// once the limit is reached, and the policy of the index lets nobody write the count. The owner of the TPM can take the index
  /// out and make one of the same Name with a value of their own; so the sealed object also wants a value made of the guess, at
  /// which the TPM as a whole allows few wrong tries.
  extension TPMKeystore: GuessLimitingKeystore {
    private static let indexPurpose = "signet tpm guess index v1"
    private static let objectPurpose = "signet tpm guess object v1"

    /// Picks a handle that is free, and the salt that the index will have.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func choosePlace() throws(KeystoreFailure) -> [UInt8] {
      try converse { conversation throws(TPMFailure) in TPMBlob.place(try conversation.plan(.guesses)).bytes }
    }

    /// Seals a secret behind an index of its own.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    /// - Precondition: The limit is 1 to 100, and the secret is not empty.
    public func seal(
      _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int,
      at place: [UInt8]
    ) throws(KeystoreFailure) -> [UInt8] {
      precondition((1...100).contains(limit), "a limit of \(limit) guesses is not in 1...100")
      try Self.check(secret)
      guard case .place(let plan) = TPMBlob(place) else { throw .refused }
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
          let made = try conversation.create(
            ObjectTemplate.guessLimitedData(policy: Self.policy(plan)), value: objectValue, data: secret,
            under: parent)
          return TPMBlob.guessLimited(made.object(under: parent), plan, contextDigest: digest).bytes
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
        // Before the guess is made, so that a blob that was changed costs none.
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
          try conversation.requireAnew(plan)
          return .wrong(remaining: try conversation.guessCount(of: plan, saltedFor: parent).remaining)
        case .notCompared:
          try conversation.requireAnew(plan)
          // Nothing authenticates a refusal; the count is authentic.
          guard try conversation.guessCount(of: plan, saltedFor: parent).remaining == 0 else {
            throw .keystore(.disconnected)
          }
          return .lockedOut
        }
      }
    }

    /// How many wrong guesses the TPM still allows.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func guessesLeft(_ blob: [UInt8]) throws(KeystoreFailure) -> Int {
      guard case .guessLimited(let object, let plan, _) = TPMBlob(blob) else { throw .refused }
      return try converse { conversation throws(TPMFailure) in
        // Says which of the two it is: all is gone, or only the count.
        let parent = try conversation.parent(named: object.parentName)
        guard try conversation.has(plan) else { throw .keystore(.countGone) }
        return try conversation.guessCount(of: plan, saltedFor: parent).remaining
      }
    }

    /// Takes the index that a blob needs out of the TPM.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func discard(_ blob: [UInt8]) throws(KeystoreFailure) {
      guard let plan = TPMBlob(blob)?.index else { return }
      try converse { conversation throws(TPMFailure) in
        guard try conversation.has(plan, orUnwritten: true) else { return }
        try conversation.undefine(plan)
      }
    }

    /// What opens the sealed object: the index's value first, and the object's own.
    private static func policy(_ plan: IndexPlan) -> [UInt8] {
      var policy = PolicyDigest()
      policy.secret(name: plan.writtenName)
      policy.authValue()
      return policy.bytes
    }
  }
#endif
