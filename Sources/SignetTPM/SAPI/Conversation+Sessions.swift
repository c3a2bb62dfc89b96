#if os(Linux)
  import CTPM2
  import SignetCrypto
  import SignetVault

  extension Conversation {
    /// The conversation's HMAC session; only the TPM with the storage key can derive the session key.
    func session(saltedFor parent: Parent) throws(TPMFailure) -> AuthorizationSession {
      if let session = hmacSession { return session }
      let session = try start(0x00, parent)
      hmacSession = session
      return session
    }

    /// The conversation's policy session, with no policy step satisfied yet.
    func policySession(saltedFor parent: Parent) throws(TPMFailure) -> AuthorizationSession {
      let session: AuthorizationSession
      if let existing = policySession {
        session = existing
        if session.hasProgress {
          try run("TPM2_PolicyRestart") {
            unsafe Tss2_Sys_PolicyRestart_Prepare(sys, session.handle)
          } complete: {
            unsafe Tss2_Sys_PolicyRestart_Complete(sys)
          }
        }
      } else {
        session = try start(0x01, parent)
        policySession = session
      }
      session.hasProgress = true
      return session
    }

    /// The salt of the next session; both sessions of a conversation share it, and their nonces give them different keys.
    private func salt(for parent: Parent) throws(TPMFailure) -> Salt {
      if let (name, existing) = salt, name == parent.name {
        salt = nil
        return existing
      }
      do throws(CryptoFailure) {
        let created = try Salt(for: parent.publicKey)
        salt = (parent.name, created)
        return created
      } catch { throw .keystore(.disconnected) }
    }

    private func start(_ kind: UInt8, _ parent: Parent) throws(TPMFailure) -> AuthorizationSession {
      let salt = try salt(for: parent)
      var symmetric = TPMT_SYM_DEF()
      symmetric.algorithm = ObjectTemplate.aes
      unsafe symmetric.keyBits.aes = 128
      unsafe symmetric.mode.aes = ObjectTemplate.cfb
      let nonce = SecureRandom.bytes(AuthorizationSession.nonceByteCount)
      var nonceCaller = TPM2B_NONCE()
      nonceCaller.size = fill(&nonceCaller.buffer, nonce)
      var point = TPM2B_ENCRYPTED_SECRET()
      let (x, y) = (salt.point.x, salt.point.y)
      point.size = fill(
        &point.secret, UInt16(x.count).bigEndianBytes + x + UInt16(y.count).bigEndianBytes + y)
      var handle: UInt32 = 0
      var nonceTPM = TPM2B_NONCE()
      try run("TPM2_StartAuthSession") {
        let nullHandle: UInt32 = 0x4000_0007
        return unsafe Tss2_Sys_StartAuthSession_Prepare(
          sys, parent.handle, nullHandle, &nonceCaller, &point, kind, &symmetric, ObjectTemplate.sha256)
      } complete: {
        unsafe Tss2_Sys_StartAuthSession_Complete(sys, &handle, &nonceTPM)
      }
      flushAtEnd(handle)
      return AuthorizationSession(
        handle: handle, salt: salt, nonceCaller: nonce, nonceTPM: prefix(nonceTPM.buffer, nonceTPM.size))
    }
  }
#endif
