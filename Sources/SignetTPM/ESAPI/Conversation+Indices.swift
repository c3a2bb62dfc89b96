#if os(Linux)
  import CTPM2
  import SignetCrypto
  import SignetVault

  extension Conversation {
    /// A PIN FAIL index's two numbers.
    struct GuessCount {
      let used: UInt32
      let limit: UInt32

      var remaining: Int { used < limit ? Int(limit - used) : 0 }
    }

    /// The handle of an index of ours; `nil` if the TPM has it no more, or has another index there.
    func find(_ plan: IndexPlan) throws(TPMFailure) -> Handle? {
      guard try handles(from: plan.handle, count: 1).first == plan.handle else { return nil }
      let handle: Handle
      do throws(TPMFailure) { handle = try known(plan.handle) } catch  where error.kind == TPMResponse.handle
      {
        return nil  // taken out between the two commands
      }
      return try name(of: handle) == plan.writtenName ? handle : nil
    }

    /// Makes an index at a handle of ours that is free, whoever else does the same meanwhile.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/full``, ``SignetVault/KeystoreFailure/ownerPasswordSet``.
    func define(
      _ role: IndexPlan.Role, authorization: borrowing SecretBytes, _ session: Handle
    ) throws(TPMFailure) -> (IndexPlan, Handle) {
      while true {
        let taken = Set(try ownIndices())
        guard let free = IndexPlan.handles.filter({ !taken.contains($0) }).randomElement() else {
          throw .keystore(.full)
        }
        let plan = IndexPlan(
          handle: free, role: role, salt: SecureRandom.bytes(IndexPlan.saltByteCount))
        do throws(TPMFailure) {
          return (plan, try define(plan, authorization: authorization, session))
        } catch  where error.kind == TPMResponse.nvDefined {}  // another process was faster
      }
    }

    /// The handles in our range that are taken.
    func ownIndices() throws(TPMFailure) -> [UInt32] {
      try handles(from: IndexPlan.handles.lowerBound, count: UInt32(IndexPlan.handles.count)).filter {
        IndexPlan.handles.contains($0)
      }
    }

    /// Makes a certain index.
    func define(
      _ plan: IndexPlan, authorization: borrowing SecretBytes, _ session: Handle
    ) throws(TPMFailure) -> Handle {
      try use(session, [.encryptingCommand])
      var info = TPM2B_NV_PUBLIC()
      info.nvPublic.nvIndex = plan.handle
      info.nvPublic.nameAlg = ObjectTemplate.sha256
      info.nvPublic.attributes = plan.attributes
      info.nvPublic.authPolicy.size = fill(&info.nvPublic.authPolicy.buffer, plan.policy)
      info.nvPublic.dataSize = plan.dataByteCount
      var handle = Self.none
      let value = Wiped<TPM2B_AUTH>()
      let code = unsafe value.withPointer { pointer in
        unsafe pointer.pointee.size = fill(&pointer.pointee.buffer, authorization)
        return unsafe Esys_NV_DefineSpace(
          esys, Self.owner, session, Self.none, Self.none, pointer, &info, &handle)
      }
      try TPMFailure.meaning([
        TPMResponse.badAuth: .ownerPasswordSet, TPMResponse.authFail: .ownerPasswordSet,
      ]) {
        () throws(TPMFailure) in try check("TPM2_NV_DefineSpace", code)
      }
      return handle
    }

    /// Takes an index out of the TPM.
    func undefine(_ handle: Handle, _ session: Handle) throws(TPMFailure) {
      try use(session, [])
      let code = unsafe Esys_NV_UndefineSpace(esys, Self.owner, handle, session, Self.none, Self.none)
      do throws(TPMFailure) { try check("TPM2_NV_UndefineSpace", code) } catch {
        switch error.kind {
        case TPMResponse.badAuth, TPMResponse.authFail: throw .keystore(.ownerPasswordSet)
        case TPMResponse.handle: return  // another process was faster
        default: throw error
        }
      }
    }

    /// Sets the limit of a new PIN FAIL index, which its policy allows once.
    func writeLimit(_ limit: Int, to handle: Handle, _ plan: IndexPlan) throws(TPMFailure) {
      let policy = try startPolicySession()
      defer { flush(policy) }
      try check(
        "TPM2_PolicyNvWritten",
        unsafe Esys_PolicyNvWritten(esys, policy, Self.none, Self.none, Self.none, 0))
      try satisfy(plan, .nvWrite, policy)
      var data = TPM2B_MAX_NV_BUFFER()
      data.size = fill(&data.buffer, UInt32(0).bigEndianBytes + UInt32(limit).bigEndianBytes)
      try check(
        "TPM2_NV_Write",
        unsafe Esys_NV_Write(esys, handle, handle, policy, Self.none, Self.none, &data, 0))
    }

    /// The count of a PIN FAIL index, which anybody may read.
    func guessCount(of handle: Handle, _ plan: IndexPlan) throws(TPMFailure) -> GuessCount {
      let policy = try startPolicySession()
      defer { flush(policy) }
      try satisfy(plan, .nvRead, policy)
      let data = try read(handle, plan, policy)
      guard let used = TPMFrame.number(data, 0), let limit = TPMFrame.number(data, 4) else {
        throw .keystore(.disconnected)
      }
      return GuessCount(used: used, limit: limit)
    }

    private func satisfy(
      _ plan: IndexPlan, _ command: PolicyDigest.CommandCode, _ policy: Handle
    ) throws(TPMFailure) {
      try check(
        "TPM2_PolicyCommandCode",
        unsafe Esys_PolicyCommandCode(
          esys, policy, Self.none, Self.none, Self.none, command.rawValue))
      var list = TPML_DIGEST()
      list.count = UInt32(plan.branches.count)
      unsafe withUnsafeMutableBytes(of: &list.digests) { bytes in
        let digests = unsafe bytes.bindMemory(to: TPM2B_DIGEST.self)
        for (index, branch) in plan.branches.enumerated() {
          unsafe digests[index].size = fill(&digests[index].buffer, branch)
        }
      }
      try check(
        "TPM2_PolicyOR", unsafe Esys_PolicyOR(esys, policy, Self.none, Self.none, Self.none, &list))
    }

    private func read(_ handle: Handle, _ plan: IndexPlan, _ session: Handle) throws(TPMFailure) -> [UInt8] {
      var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
      try check(
        "TPM2_NV_Read",
        unsafe Esys_NV_Read(
          esys, handle, handle, session, Self.none, Self.none, plan.dataByteCount, 0, &data))
      defer { unsafe free(data) }
      guard let found = unsafe data?.pointee else { throw .keystore(.disconnected) }
      return prefix(found.buffer, found.size)
    }

    /// Opens the way to an object with the authorization value of a PIN FAIL index, which counts if it is wrong.
    ///
    /// - Returns: The policy session, or `nil` if the value is wrong or the limit was reached.
    func policySession(
      withGuessAt index: Handle, _ session: Handle, saltedFor parent: Parent
    ) throws(TPMFailure) -> Handle? {
      let policy = try startPolicySession(saltedFor: parent.handle)
      try use(session, [])
      do throws(TPMFailure) {
        try check(
          "TPM2_PolicySecret",
          unsafe Esys_PolicySecret(
            esys, index, policy, session, Self.none, Self.none, nil, nil, nil, 0, nil, nil))
      } catch  where error.kind == TPMResponse.authFail || error.kind == TPMResponse.badAuth { return nil }
      try check(
        "TPM2_PolicyAuthValue",
        unsafe Esys_PolicyAuthValue(esys, policy, Self.none, Self.none, Self.none))
      return policy
    }

    // MARK: Counters

    /// Advances a counter.
    func increment(_ handle: Handle, _ session: Handle) throws(TPMFailure) {
      try use(session, [])
      try check(
        "TPM2_NV_Increment",
        unsafe Esys_NV_Increment(esys, handle, handle, session, Self.none, Self.none))
    }

    /// The value of a counter.
    func counterValue(_ handle: Handle, _ plan: IndexPlan, _ session: Handle) throws(TPMFailure) -> UInt64 {
      try use(session, [])
      let data = try read(handle, plan, session)
      guard data.count == 8 else { throw .keystore(.disconnected) }
      return data.reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
#endif
