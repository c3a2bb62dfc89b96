#if os(Linux)
  import CTPM2
  package import SignetCrypto
  import SignetVault

  extension Conversation {
    /// The count and limit of a PIN FAIL index.
    package struct GuessCount {
      package let used: UInt32
      let limit: UInt32

      var remaining: Int { used < limit ? Int(limit - used) : 0 }
    }

    /// Returns true if the TPM still has this index; a different index at the same handle does not count.
    ///
    /// - Parameters:
    ///   - plan: The definition of the index.
    ///   - unwritten: True to accept an index that was never written.
    /// - Returns: True if the index exists.
    /// - Throws: ``TPMFailure`` if the TPM cannot be queried.
    func has(_ plan: IndexPlan, orUnwritten unwritten: Bool = false) throws(TPMFailure) -> Bool {
      var index = TPM2B_NV_PUBLIC()
      var name = TPM2B_NAME()
      do throws(TPMFailure) {
        try run("TPM2_NV_ReadPublic") {
          unsafe Tss2_Sys_NV_ReadPublic_Prepare(sys, plan.handle)
        } complete: {
          unsafe Tss2_Sys_NV_ReadPublic_Complete(sys, &index, &name)
        }
      } catch  where error.kind == TPMResponse.handle { return false }
      let found = prefix(name.name, name.size)
      return found == plan.writtenName || unwritten && found == plan.unwrittenName
    }

    /// Verifies that an index exists, unless the TPM has confirmed it before.
    ///
    /// The check prevents a wasted guess at another index with the same handle. Later commands are bound to the index's
    /// Name, so an index that is replaced afterwards is not accepted.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/countGone`` if it does not exist.
    func require(_ plan: IndexPlan) throws(TPMFailure) {
      if !memory.isConfirmed(plan.writtenName) { try recheck(plan) }
    }

    /// Verifies that an index still exists after the TPM rejected its use.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/countGone`` if it does not exist.
    func recheck(_ plan: IndexPlan) throws(TPMFailure) {
      let exists = try has(plan)
      memory.record(plan.writtenName, exists: exists)
      guard exists else { throw .keystore(.countGone) }
    }

    /// Makes an index at a free handle; retries if another process takes the handle first.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/full``, ``SignetVault/KeystoreFailure/ownerPasswordSet``.
    package func define(
      _ role: IndexPlan.Role, value: SharedSecretBox, saltedFor parent: Parent
    ) throws(TPMFailure) -> IndexPlan {
      while true {
        let plan = try plan(role)
        do throws(TPMFailure) {
          try define(plan, value: value, saltedFor: parent)
          return plan
        } catch  where error.kind == TPMResponse.nvDefined {}  // another process was faster
      }
    }

    /// Returns the definition of a new index at a free handle.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/full``.
    func plan(_ role: IndexPlan.Role) throws(TPMFailure) -> IndexPlan {
      let occupied = Set(try occupiedHandles())
      guard let free = IndexPlan.handles.filter({ !occupied.contains($0) }).randomElement() else {
        throw .keystore(.full)
      }
      return IndexPlan(handle: free, role: role, salt: SecureRandom.bytes(IndexPlan.saltByteCount))
    }

    /// The occupied handles in this program's range.
    func occupiedHandles() throws(TPMFailure) -> [UInt32] {
      try handles(from: IndexPlan.handles.lowerBound, count: UInt32(IndexPlan.handles.count)).filter {
        IndexPlan.handles.contains($0)
      }
    }

    package func define(
      _ plan: IndexPlan, value: SharedSecretBox, saltedFor parent: Parent
    ) throws(TPMFailure) {
      let session = try session(saltedFor: parent)
      var info = TPM2B_NV_PUBLIC()
      info.nvPublic.nvIndex = plan.handle
      info.nvPublic.nameAlg = ObjectTemplate.sha256
      info.nvPublic.attributes = plan.attributes
      info.nvPublic.authPolicy.size = fill(&info.nvPublic.authPolicy.buffer, plan.policy)
      info.nvPublic.dataSize = plan.dataByteCount
      let input = Wiped<TPM2B_AUTH>()
      unsafe input.withPointer { pointer in
        unsafe pointer.pointee.size = value.withSecret { unsafe fill(&pointer.pointee.buffer, $0) }
      }
      hasLastingEffect = true
      let authorization = Authorization.session(
        session, nil, .encryptingCommand, names: [Self.owner.bigEndianBytes])
      try TPMFailure.meaning([
        TPMResponse.badAuth: .ownerPasswordSet, TPMResponse.authFail: .ownerPasswordSet,
      ]) { () throws(TPMFailure) in
        try unsafe input.withPointer { (pointer) throws(TPMFailure) in
          try run("TPM2_NV_DefineSpace", authorization) {
            unsafe Tss2_Sys_NV_DefineSpace_Prepare(sys, Self.owner, pointer, &info)
          } complete: {
            unsafe Tss2_Sys_NV_DefineSpace_Complete(sys)
          }
        }
      }
    }

    func undefine(_ plan: IndexPlan) throws(TPMFailure) {
      hasLastingEffect = true
      do throws(TPMFailure) {
        try run("TPM2_NV_UndefineSpace", .empty) {
          unsafe Tss2_Sys_NV_UndefineSpace_Prepare(sys, Self.owner, plan.handle)
        } complete: {
          unsafe Tss2_Sys_NV_UndefineSpace_Complete(sys)
        }
      } catch {
        switch error.kind {
        case TPMResponse.badAuth, TPMResponse.authFail: throw .keystore(.ownerPasswordSet)
        case TPMResponse.handle: break  // another process was faster
        default: throw error
        }
      }
      memory.record(plan.writtenName, exists: false)
    }

    /// Sets the limit of a new PIN FAIL index; its policy allows this once.
    package func writeLimit(_ limit: Int, to plan: IndexPlan, saltedFor parent: Parent) throws(TPMFailure) {
      let policy = try policySession(saltedFor: parent)
      try run("TPM2_PolicyNvWritten") {
        unsafe Tss2_Sys_PolicyNvWritten_Prepare(sys, policy.handle, 0)
      } complete: {
        unsafe Tss2_Sys_PolicyNvWritten_Complete(sys)
      }
      try satisfy(plan, .nvWrite, policy)
      var data = TPM2B_MAX_NV_BUFFER()
      data.size = fill(&data.buffer, UInt32(0).bigEndianBytes + UInt32(limit).bigEndianBytes)
      hasLastingEffect = true
      let name = plan.unwrittenName
      try run("TPM2_NV_Write", .session(policy, names: [name, name])) {
        unsafe Tss2_Sys_NV_Write_Prepare(sys, plan.handle, plan.handle, &data, 0)
      } complete: {
        unsafe Tss2_Sys_NV_Write_Complete(sys)
      }
    }

    /// The count of a PIN FAIL index, which needs no authorization value to read.
    package func guessCount(of plan: IndexPlan, saltedFor parent: Parent) throws(TPMFailure) -> GuessCount {
      let policy = try policySession(saltedFor: parent)
      try satisfy(plan, .nvRead, policy)
      let data = try read(plan, policy, value: nil)
      guard let used = TPMFrame.number(data, 0), let limit = TPMFrame.number(data, 4) else {
        throw .keystore(.disconnected)
      }
      return GuessCount(used: used, limit: limit)
    }

    private func satisfy(
      _ plan: IndexPlan, _ command: PolicyDigest.CommandCode, _ policy: AuthorizationSession
    ) throws(TPMFailure) {
      try run("TPM2_PolicyCommandCode") {
        unsafe Tss2_Sys_PolicyCommandCode_Prepare(sys, policy.handle, command.rawValue)
      } complete: {
        unsafe Tss2_Sys_PolicyCommandCode_Complete(sys)
      }
      var list = TPML_DIGEST()
      list.count = UInt32(plan.branches.count)
      unsafe withUnsafeMutableBytes(of: &list.digests) { bytes in
        let digests = unsafe bytes.bindMemory(to: TPM2B_DIGEST.self)
        for (index, branch) in plan.branches.enumerated() {
          unsafe digests[index].size = fill(&digests[index].buffer, branch)
        }
      }
      try run("TPM2_PolicyOR") {
        unsafe Tss2_Sys_PolicyOR_Prepare(sys, policy.handle, &list)
      } complete: {
        unsafe Tss2_Sys_PolicyOR_Complete(sys)
      }
    }

    private func read(
      _ plan: IndexPlan, _ session: AuthorizationSession, value: SharedSecretBox?
    ) throws(TPMFailure) -> [UInt8] {
      var data = TPM2B_MAX_NV_BUFFER()
      let name = plan.writtenName
      try run("TPM2_NV_Read", .session(session, value, names: [name, name])) {
        unsafe Tss2_Sys_NV_Read_Prepare(sys, plan.handle, plan.handle, plan.dataByteCount, 0)
      } complete: {
        unsafe Tss2_Sys_NV_Read_Complete(sys, &data)
      }
      return prefix(data.buffer, data.size)
    }

    /// Starts a policy session with a guess at the authorization value of a PIN FAIL index; a wrong guess is counted.
    ///
    /// - Returns: The policy session, or the reason why there is none.
    /// - Throws: ``SignetVault/KeystoreFailure/countGone`` if the index does not exist.
    package func policySession(
      withGuess value: SharedSecretBox, at plan: IndexPlan, saltedFor parent: Parent
    ) throws(TPMFailure) -> GuessAnswer {
      let session = try session(saltedFor: parent)
      let policy = try policySession(saltedFor: parent)
      var (nonce, hash, reference) = (TPM2B_NONCE(), TPM2B_DIGEST(), TPM2B_NONCE())
      var (timeout, ticket) = (TPM2B_TIMEOUT(), TPMT_TK_AUTH())
      hasLastingEffect = true
      do throws(TPMFailure) {
        let authorization = Authorization.session(session, value, names: [plan.writtenName, policy.name])
        try run("TPM2_PolicySecret", authorization) {
          unsafe Tss2_Sys_PolicySecret_Prepare(
            sys, plan.handle, policy.handle, &nonce, &hash, &reference, 0)
        } complete: {
          unsafe Tss2_Sys_PolicySecret_Complete(sys, &timeout, &ticket)
        }
      } catch {
        switch error.kind {
        case TPMResponse.authFail, TPMResponse.badAuth: return .wrong
        case TPMResponse.authUnavailable: return .notCompared
        case TPMResponse.handle:
          try recheck(plan)
          throw error
        default: throw error
        }
      }
      try run("TPM2_PolicyAuthValue") {
        unsafe Tss2_Sys_PolicyAuthValue_Prepare(sys, policy.handle)
      } complete: {
        unsafe Tss2_Sys_PolicyAuthValue_Complete(sys)
      }
      return .right(policy)
    }

    /// The answer of an index to a guess.
    package enum GuessAnswer {
      /// The value is right; the session satisfies the policy step of the index.
      case right(AuthorizationSession)
      /// The value is wrong, and the TPM counted it.
      case wrong
      /// The limit was reached before; the TPM did not compare the value.
      case notCompared
    }

    // MARK: Counters

    /// Advances a counter; before its first write it has another Name.
    package func increment(
      _ plan: IndexPlan, value: SharedSecretBox, isNew: Bool, saltedFor parent: Parent
    ) throws(TPMFailure) {
      let session = try session(saltedFor: parent)
      let name = isNew ? plan.unwrittenName : plan.writtenName
      hasLastingEffect = true
      try run("TPM2_NV_Increment", .session(session, value, names: [name, name])) {
        unsafe Tss2_Sys_NV_Increment_Prepare(sys, plan.handle, plan.handle)
      } complete: {
        unsafe Tss2_Sys_NV_Increment_Complete(sys)
      }
    }

    func counterValue(
      _ plan: IndexPlan, value: SharedSecretBox, saltedFor parent: Parent
    ) throws(TPMFailure) -> UInt64 {
      let data = try read(plan, try session(saltedFor: parent), value: value)
      guard data.count == 8 else { throw .keystore(.disconnected) }
      return data.reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
#endif
