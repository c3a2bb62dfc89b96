#if os(Linux)
  import SignetCrypto
  public import SignetVault

  extension TPMKeystore: CountingKeystore {
    /// Makes a counter in an index of its own.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func makeCounter() throws(KeystoreFailure) -> [UInt8] {
      let authorization = AuthorizationValues.random()
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        let session = try conversation.startSession(saltedFor: parent.handle)
        let (plan, index) = try conversation.define(.counter, authorization: authorization, session)
        do throws(TPMFailure) { try conversation.increment(index, session) } catch {
          try conversation.undefine(index, session)
          throw error
        }
        return TPMBlob.counter(plan, authorization: authorization.insecureCopy()).bytes
      }
    }

    /// The value of a counter.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func counterValue(_ blob: [UInt8]) throws(KeystoreFailure) -> UInt64 {
      try withCounter(blob) { conversation, index, plan, session throws(TPMFailure) in
        try conversation.counterValue(index, plan, session)
      }
    }

    /// Advances a counter by one.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func advanceCounter(_ blob: [UInt8]) throws(KeystoreFailure) -> UInt64 {
      try withCounter(blob) { conversation, index, plan, session throws(TPMFailure) in
        try conversation.increment(index, session)
        return try conversation.counterValue(index, plan, session)
      }
    }

    private func withCounter(
      _ blob: [UInt8],
      _ body: (Conversation, Conversation.Handle, IndexPlan, Conversation.Handle) throws(TPMFailure) -> UInt64
    ) throws(KeystoreFailure) -> UInt64 {
      guard case .counter(let plan, let authorization) = TPMBlob(blob) else { throw .refused }
      return try converse { conversation throws(TPMFailure) in
        guard let index = try conversation.find(plan) else { throw .keystore(.countGone) }
        // The value keeps strangers from advancing the counter, and is never sent.
        try conversation.authorize(index, with: SecretBytes(copying: authorization))
        let session = try conversation.startSession()
        return try TPMFailure.meaning([TPMResponse.badAuth: .refused, TPMResponse.authFail: .refused]) {
          () throws(TPMFailure) in try body(conversation, index, plan, session)
        }
      }
    }
  }
#endif
