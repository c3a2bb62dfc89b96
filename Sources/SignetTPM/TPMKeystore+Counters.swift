#if os(Linux)
  import SignetCrypto
  public import SignetVault

  extension TPMKeystore: CountingKeystore {
    /// Makes a counter in its own NV index.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func makeCounter() throws(KeystoreFailure) -> [UInt8] {
      let value = AuthorizationValues.random()
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        let plan = try conversation.define(.counter, value: value, saltedFor: parent)
        do throws(TPMFailure) {
          try conversation.increment(plan, value: value, isNew: true, saltedFor: parent)
        } catch {
          try conversation.undefine(plan)
          throw error
        }
        return TPMBlob.counter(plan, authorization: value.withSecret { $0.insecureCopy() }).bytes
      }
    }

    /// The value of a counter.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func counterValue(_ blob: [UInt8]) throws(KeystoreFailure) -> UInt64 {
      try withCounter(blob) { conversation, plan, value, parent throws(TPMFailure) in
        try conversation.counterValue(plan, value: value, saltedFor: parent)
      }
    }

    /// Advances a counter by one.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func advanceCounter(_ blob: [UInt8]) throws(KeystoreFailure) {
      try withCounter(blob) { conversation, plan, value, parent throws(TPMFailure) in
        try conversation.increment(plan, value: value, isNew: false, saltedFor: parent)
      }
    }

    private func withCounter<R>(
      _ blob: [UInt8], _ body: (Conversation, IndexPlan, SharedSecretBox, Parent) throws(TPMFailure) -> R
    ) throws(KeystoreFailure) -> R {
      guard case .counter(let plan, let authorization) = TPMBlob(blob) else { throw .refused }
      // The value stops other programs from advancing the counter, and is never sent.
      let value = SharedSecretBox(SecretBytes(copying: authorization))
      return try converse { conversation throws(TPMFailure) in
        do throws(TPMFailure) {
          return try body(conversation, plan, value, try conversation.parent())
        } catch {
          // Commands are bound to the index's Name, so the TPM rejects all of them if the index is gone.
          guard error.canMeanMissingIndex else { throw error }
          guard try conversation.has(plan) else { throw .keystore(.countGone) }
          throw error.kind == TPMResponse.badAuth || error.kind == TPMResponse.authFail
            ? .keystore(.refused) : error
        }
      }
    }
  }

  extension TPMFailure {
    /// True if the TPM has answered, and a TPM without the index would give the same answer.
    fileprivate var canMeanMissingIndex: Bool {
      switch self {
      case .response(_, let response): response.isFromTPM
      case .keystore(let failure): failure == .replaced
      }
    }
  }
#endif
