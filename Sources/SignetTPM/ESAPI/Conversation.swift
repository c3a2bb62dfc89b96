#if os(Linux)
  import CTPM2
  import Glibc
  import SignetCrypto
  import SignetVault

  /// One connection to the TPM and what was loaded over it; all of that is flushed when the conversation ends.
  ///
  /// A TPM without a resource manager has three places for keys: nothing of ours may stay in one.
  @safe final class Conversation {
    typealias Handle = ESYS_TR

    static let none: Handle = 0xFFF
    static let owner: Handle = 0x101
    /// The session that sends an authorization value as it is: only for empty ones.
    static let password: Handle = 0xFF

    let esys: OpaquePointer
    private let tcti: TCTI
    private var loaded: [Handle] = []

    /// Starts a conversation over a link.
    init(_ link: any TPMLink) throws(TPMFailure) {
      _ = Self.quietLibrary
      tcti = TCTI(link)
      var context: OpaquePointer?
      let code = unsafe Esys_Initialize(&context, tcti.context, nil)
      guard code == 0, let context = unsafe context else {
        throw .response(call: "Esys_Initialize", TPMResponse(code))
      }
      unsafe esys = context
    }

    deinit {
      flushAll()
      var context: OpaquePointer? = unsafe esys
      unsafe Esys_Finalize(&context)
      DeadHeap.wipe()
      DeadStack.wipe()
    }

    /// Throws what a call of the C library says, or what is behind it.
    func check(_ call: String, _ code: TSS2_RC) throws(TPMFailure) {
      if code == 0 { return }
      if let failure = tcti.failure { throw .keystore(failure) }
      throw .response(call: call, TPMResponse(code))
    }

    /// Frees what the C library allocated.
    func free<Structure>(_ pointer: UnsafeMutablePointer<Structure>?) { unsafe Esys_Free(pointer) }

    /// Remembers a key or session that has to be flushed.
    func flushLater(_ handle: Handle) { loaded.append(handle) }

    /// Flushes a key or session now.
    func flush(_ handle: Handle) {
      loaded.removeAll { $0 == handle }
      // A broken link has nothing to flush with; what stays is for the sweep.
      _ = unsafe Esys_FlushContext(esys, handle)
    }

    private func flushAll() {
      while let handle = loaded.popLast() { _ = unsafe Esys_FlushContext(esys, handle) }
    }

    // MARK: Authorization

    /// Sets the authorization value that the library uses for a handle; call ``forgetAuthorization(of:)`` after use.
    func authorize(_ handle: Handle, with value: borrowing SecretBytes) throws(TPMFailure) {
      let authorization = Wiped<TPM2B_AUTH>()
      let code = unsafe authorization.withPointer { pointer in
        unsafe pointer.pointee.size = fill(&pointer.pointee.buffer, value)
        return unsafe Esys_TR_SetAuth(esys, handle, pointer)
      }
      try check("Esys_TR_SetAuth", code)
    }

    /// Overwrites the library's copy of an authorization value, which it would free as it is.
    func forgetAuthorization(of handle: Handle) {
      var zeros = TPM2B_AUTH()
      zeros.size = UInt16(MemoryLayout.size(ofValue: zeros.buffer))
      _ = unsafe Esys_TR_SetAuth(esys, handle, &zeros)
    }

    // MARK: Sessions

    /// What a session does in the next command beside authorizing.
    struct Use: OptionSet {
      let rawValue: UInt8
      /// Encrypts the first parameter of the command.
      static let encryptingCommand = Use(rawValue: 0x20)
      /// Encrypts the first parameter of the answer.
      static let encryptingAnswer = Use(rawValue: 0x40)
    }

    /// Starts an HMAC session; only the TPM that has the key it is salted for can know the session's.
    func startSession(saltedFor key: Handle = none) throws(TPMFailure) -> Handle {
      try startSession(0x00, key)
    }

    /// Starts a policy session, salted or not.
    func startPolicySession(saltedFor key: Handle = none) throws(TPMFailure) -> Handle {
      try startSession(0x01, key)
    }

    private func startSession(_ kind: TPM2_SE, _ key: Handle) throws(TPMFailure) -> Handle {
      var symmetric = TPMT_SYM_DEF()
      symmetric.algorithm = ObjectTemplate.aes
      unsafe symmetric.keyBits.aes = 128
      unsafe symmetric.mode.aes = ObjectTemplate.cfb
      var session: Handle = Self.none
      try check(
        "TPM2_StartAuthSession",
        unsafe Esys_StartAuthSession(
          esys, key, Self.none, Self.none, Self.none, Self.none, nil, kind, &symmetric, ObjectTemplate.sha256,
          &session))
      flushLater(session)
      try use(session, [])
      return session
    }

    /// Says what a session does in the next command.
    func use(_ session: Handle, _ use: Use) throws(TPMFailure) {
      let continues: UInt8 = 0x01
      try check(
        "Esys_TRSess_SetAttributes",
        unsafe Esys_TRSess_SetAttributes(esys, session, continues | use.rawValue, 0xFF))
    }

    /// Keeps the library from printing to standard error what it returns as well, unless the user set `TSS2_LOG`.
    private static let quietLibrary: Bool = unsafe setenv("TSS2_LOG", "all+NONE", 0) == 0
  }
#endif
