#if os(Linux)
  import CTPM2
  import Glibc
  import SignetCrypto
  import SignetVault

  /// A connection to the TPM with the objects loaded over it, which are flushed when the conversation ends.
  ///
  /// A TPM without a resource manager has three slots for keys, and this program must not leave one occupied. Between two
  /// calls of the keystore, a conversation holds the storage key and two sessions, and no authorization value.
  @safe package final class Conversation: @unchecked Sendable {
    // Unchecked: only the thread whose turn it is uses this object.

    /// The handle of the owner's hierarchy.
    static let owner: UInt32 = 0x4000_0001

    let sys: OpaquePointer
    private let context: UnsafeMutableRawBufferPointer
    private let tcti: TCTI
    private var loadedForCall: [UInt32] = []
    private var loaded: [UInt32] = []

    /// The storage keys that were looked up in this conversation.
    var parents: [Parent] = []
    /// The session for authorization values.
    var hmacSession: AuthorizationSession?
    /// The session for policies.
    var policySession: AuthorizationSession?
    /// The salt of both session keys, kept between the start of the first session and the start of the second; otherwise `nil`.
    var salt: (parentName: [UInt8], value: Salt)?
    /// State that outlives one conversation.
    let memory: TPMMemory
    /// True if a command of this call had a lasting effect, so that the call must not be retried.
    var hasLastingEffect = false
    let start = ContinuousClock.now

    package init(_ link: any TPMLink, _ memory: TPMMemory = TPMMemory()) throws(TPMFailure) {
      _ = Self.quietLibrary
      tcti = TCTI(link)
      self.memory = memory
      unsafe context = .allocate(byteCount: Tss2_Sys_GetContextSize(0), alignment: 16)
      unsafe context.initializeMemory(as: UInt8.self, repeating: 0)
      guard let base = unsafe context.baseAddress else { preconditionFailure("a context has bytes") }
      unsafe sys = OpaquePointer(base)
      let code = unsafe Tss2_Sys_Initialize(sys, context.count, tcti.context, nil)
      guard code == 0 else { throw .response(call: "Tss2_Sys_Initialize", TPMResponse(code)) }
    }

    deinit {
      endCall()
      // A broken link cannot flush; `LeftoverSweep` removes the rest later.
      while let handle = loaded.popLast() { discardHandle(handle) }
      unsafe Tss2_Sys_Finalize(sys)
      unsafe wipe(context)
      unsafe context.deallocate()
      DeadStack.wipe()
    }

    /// Throws the failure for a code of the C library, or the link's failure behind it.
    func check(_ call: String, _ code: TSS2_RC) throws(TPMFailure) {
      if code == 0 { return }
      if let failure = tcti.failure { throw .keystore(failure) }
      throw .response(call: call, TPMResponse(code))
    }

    /// Stops the library from also printing its errors to standard error, unless the user set `TSS2_LOG`.
    private static let quietLibrary: Bool = unsafe setenv("TSS2_LOG", "all+NONE", 0) == 0

    // MARK: Handles

    /// Registers a handle to flush when the keystore call ends.
    func flushAfterCall(_ handle: UInt32) { loadedForCall.append(handle) }

    /// Registers a handle to flush when the conversation ends.
    func flushAtEnd(_ handle: UInt32) { loaded.append(handle) }

    /// Flushes the handles that one keystore call loaded.
    package func endCall() {
      while let handle = loadedForCall.popLast() { discardHandle(handle) }
    }

    private func discardHandle(_ handle: UInt32) {
      do throws(TPMFailure) { try flush(handle) } catch {}
    }

    private func flush(_ handle: UInt32) throws(TPMFailure) {
      try run("TPM2_FlushContext") {
        unsafe Tss2_Sys_FlushContext_Prepare(sys, handle)
      } complete: {
        unsafe Tss2_Sys_FlushContext_Complete(sys)
      }
    }

    // MARK: Commands

    enum Authorization {
      /// The command needs no authorization.
      case none
      /// An empty authorization value, sent as a password.
      case empty
      /// An HMAC with an authorization value that is not sent, or a policy; the Names are those of the command's handles.
      case session(
        AuthorizationSession, SharedSecretBox? = nil, AuthorizationSession.Attributes = [], names: [[UInt8]])
    }

    /// Runs a command: encodes, authorizes and sends it, verifies the answer's HMAC, and decodes the answer.
    func run(
      _ call: String, _ authorization: Authorization = .none, prepare: () -> TSS2_RC, complete: () -> TSS2_RC
    ) throws(TPMFailure) {
      var round = 1
      while true {
        try check(call, prepare())
        try authorize(call, authorization)
        let code = unsafe Tss2_Sys_Execute(sys)
        let response = TPMResponse(code)
        if code == 0 { break }
        if response.requiresRetry, tcti.failure == nil, round < 5 {
          round += 1
          continue
        }
        try checkAnswer(call, code)
      }
      let secret = try unsafe accept(call, authorization)
      defer { unsafe wipe(secret) }
      // After a policy session has authorized a command and continues, the TPM resets it (part 4, `UpdateAllNonceTPM`).
      if case .session(let session, _, _, _) = authorization { session.hasProgress = false }
      try checkAnswer(call, complete())
    }

    /// Throws the failure for an answer; an undecodable answer counts as a broken connection.
    private func checkAnswer(_ call: String, _ code: TSS2_RC) throws(TPMFailure) {
      if code != 0, !TPMResponse(code).isFromTPM, tcti.failure == nil { throw .keystore(.disconnected) }
      try check(call, code)
    }

    private func authorize(_ call: String, _ authorization: Authorization) throws(TPMFailure) {
      var commands = TSS2L_SYS_AUTH_COMMAND()
      commands.count = 1
      let password: UInt32 = 0x4000_0009
      switch authorization {
      case .none: return
      case .empty:
        commands.auths.0.sessionHandle = password
      case .session(let session, let value, let attributes, let names):
        let attributes = attributes.union(.continues)
        let nonce = session.begin()
        if attributes.contains(.encryptingCommand) { try encryptParameter(call, session, value) }
        let parameters = try unsafe bytes(call) { unsafe Tss2_Sys_GetCpBuffer(sys, &$0, &$1) }
        let hash = HashFunction.sha256.digest(
          of: try commandCode(call) + names.flatMap(\.self) + parameters)
        let code = session.code(ofCommand: hash, attributes, value)
        commands.auths.0.sessionHandle = session.handle
        commands.auths.0.nonce.size = fill(&commands.auths.0.nonce.buffer, nonce)
        commands.auths.0.sessionAttributes = attributes.rawValue
        commands.auths.0.hmac.size = fill(&commands.auths.0.hmac.buffer, code)
      }
      try check(call, unsafe Tss2_Sys_SetCmdAuths(sys, &commands))
    }

    /// Verifies the HMAC of an answer and decrypts its first parameter.
    ///
    /// - Returns: The parameter's location in the library's memory, to be wiped.
    private func accept(
      _ call: String, _ authorization: Authorization
    ) throws(TPMFailure) -> UnsafeMutableRawBufferPointer {
      let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
      guard case .session(let session, let value, let attributes, _) = authorization else {
        return unsafe nothing
      }
      var answers = TSS2L_SYS_AUTH_RESPONSE()
      try checkAnswer(call, unsafe Tss2_Sys_GetRspAuths(sys, &answers))
      let parameters = try unsafe bytes(call) { unsafe Tss2_Sys_GetRpBuffer(sys, &$0, &$1) }
      let success: UInt32 = 0
      let hash = HashFunction.sha256.digest(
        of: success.bigEndianBytes + (try commandCode(call)) + parameters)
      let answer = answers.auths.0
      guard answers.count == 1,
        session.accepts(
          prefix(answer.hmac.buffer, answer.hmac.size), ofAnswer: hash,
          nonce: prefix(answer.nonce.buffer, answer.nonce.size), answer.sessionAttributes, value)
      else { throw .keystore(.disconnected) }
      guard attributes.contains(.encryptingAnswer) else { return unsafe nothing }
      return try unsafe decryptParameter(call, session, value)
    }

    private func encryptParameter(
      _ call: String, _ session: AuthorizationSession, _ value: SharedSecretBox?
    ) throws(TPMFailure) {
      var size = 0
      var pointer: UnsafePointer<UInt8>?
      try check(call, unsafe Tss2_Sys_GetDecryptParam(sys, &size, &pointer))
      let parameter = SecretBytes(copying: unsafe UnsafeRawBufferPointer(start: pointer, count: size).bytes)
      let encrypted: [UInt8]
      do throws(CryptoFailure) { encrypted = try session.encrypted(parameter, value) } catch {
        throw .keystore(.disconnected)
      }
      try check(call, unsafe Tss2_Sys_SetDecryptParam(sys, encrypted.count, encrypted))
    }

    private func decryptParameter(
      _ call: String, _ session: AuthorizationSession, _ value: SharedSecretBox?
    ) throws(TPMFailure) -> UnsafeMutableRawBufferPointer {
      var size = 0
      var pointer: UnsafePointer<UInt8>?
      try checkAnswer(call, unsafe Tss2_Sys_GetEncryptParam(sys, &size, &pointer))
      let encrypted = unsafe Array(UnsafeBufferPointer(start: pointer, count: size))
      let parameter: SecretBytes
      do throws(CryptoFailure) { parameter = try session.decrypted(encrypted, value) } catch {
        throw .keystore(.disconnected)
      }
      let code = parameter.withBytes { span in
        unsafe span.withUnsafeBytes { bytes in
          unsafe Tss2_Sys_SetEncryptParam(sys, size, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
      }
      try checkAnswer(call, code)
      return unsafe UnsafeMutableRawBufferPointer(start: UnsafeMutablePointer(mutating: pointer), count: size)
    }

    private func commandCode(_ call: String) throws(TPMFailure) -> [UInt8] {
      var code = [UInt8](repeating: 0, count: 4)
      try check(call, unsafe Tss2_Sys_GetCommandCode(sys, &code))
      return code
    }

    private func bytes(
      _ call: String, _ get: (inout Int, inout UnsafePointer<UInt8>?) -> TSS2_RC
    ) throws(TPMFailure) -> [UInt8] {
      var size = 0
      var pointer: UnsafePointer<UInt8>?
      try checkAnswer(call, unsafe get(&size, &pointer))
      return unsafe Array(UnsafeBufferPointer(start: pointer, count: size))
    }
  }
#endif
