#if os(Linux)
  import CTPM2
  import SignetCrypto
  import SignetVault

  /// A storage key that is ready for use.
  package struct Parent {
    package let handle: UInt32
    /// Computed from the public part, not read from the TPM.
    let name: [UInt8]
    let publicKey: P256.KeyAgreement.PublicKey
  }

  extension Conversation {
    /// The persistent handle of the storage root key, if one is provisioned (TCG registry of reserved handles).
    static let storageRootKey: UInt32 = 0x8100_0001

    /// Returns the storage key for new objects.
    ///
    /// It is the key that was used before. Otherwise it is the persistent key if that matches this module's template, or a
    /// newly made key.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/replaced`` if this TPM no longer has the key that was used before.
    package func parent() throws(TPMFailure) -> Parent {
      if let name = memory.pinnedName { return try parent(named: name) }
      if let persistent = try persistentParent() { return remember(persistent) }
      return remember(try makeParent())
    }

    /// Returns the storage key with this Name.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/replaced`` if this TPM has none: it was cleared, or it is another TPM.
    func parent(named name: [UInt8]) throws(TPMFailure) -> Parent {
      if let existing = parents.first(where: { $0.name == name }) { return existing }
      if let saved = memory.savedKey, saved.name == name, let parent = try load(saved) {
        return remember(parent)
      }
      if let persistent = try persistentParent(), persistent.name == name { return remember(persistent) }
      let created = try makeParent()
      guard created.name == name else { throw .keystore(.replaced) }
      return remember(created)
    }

    private func remember(_ parent: Parent) -> Parent {
      memory.pin(parent.name)
      parents.append(parent)
      return parent
    }

    private func makeParent() throws(TPMFailure) -> Parent {
      var template = ObjectTemplate.storageKey
      var sensitive = TPM2B_SENSITIVE_CREATE()
      var outsideInfo = TPM2B_DATA()
      var creationPCR = TPML_PCR_SELECTION()
      var handle: UInt32 = 0
      var created = TPM2B_PUBLIC()
      var (creation, hash, ticket) = (TPM2B_CREATION_DATA(), TPM2B_DIGEST(), TPMT_TK_CREATION())
      var name = TPM2B_NAME()
      do throws(TPMFailure) {
        try run("TPM2_CreatePrimary", .empty) {
          unsafe Tss2_Sys_CreatePrimary_Prepare(
            sys, Self.owner, &sensitive, &template, &outsideInfo, &creationPCR)
        } complete: {
          unsafe Tss2_Sys_CreatePrimary_Complete(sys, &handle, &created, &creation, &hash, &ticket, &name)
        }
      } catch  where error.kind == TPMResponse.badAuth || error.kind == TPMResponse.authFail {
        throw .keystore(.ownerPasswordSet)
      }
      flushAtEnd(handle)
      guard let parent = try storageKey(created.publicArea, handle) else { throw .keystore(.disconnected) }
      save(parent)
      return parent
    }

    private func persistentParent() throws(TPMFailure) -> Parent? {
      var found = TPM2B_PUBLIC()
      var (name, qualifiedName) = (TPM2B_NAME(), TPM2B_NAME())
      do throws(TPMFailure) {
        try run("TPM2_ReadPublic") {
          unsafe Tss2_Sys_ReadPublic_Prepare(sys, Self.storageRootKey)
        } complete: {
          unsafe Tss2_Sys_ReadPublic_Complete(sys, &found, &name, &qualifiedName)
        }
      } catch  where error.kind == TPMResponse.handle { return nil }
      return try storageKey(found.publicArea, Self.storageRootKey)
    }

    /// Returns a storage key that matches this module's template; `nil` for another kind of key, or a key with a policy.
    private func storageKey(_ area: TPMT_PUBLIC, _ handle: UInt32) throws(TPMFailure) -> Parent? {
      guard area.type == ObjectTemplate.ecc, area.nameAlg == ObjectTemplate.sha256,
        area.objectAttributes == ObjectTemplate.storageKeyAttributes, area.authPolicy.size == 0
      else { return nil }
      let point = ObjectTemplate.unique(area)
      let name = try ObjectTemplate.name(area)
      do throws(CryptoFailure) {
        return Parent(
          handle: handle, name: name,
          publicKey: try P256.KeyAgreement.PublicKey(x963: [0x04] + point))
      } catch { throw .keystore(.disconnected) }
    }

    /// Saves a key's context; if that fails, the key is made again next time.
    private func save(_ parent: Parent) {
      var context = TPMS_CONTEXT()
      do throws(TPMFailure) {
        try run("TPM2_ContextSave") {
          unsafe Tss2_Sys_ContextSave_Prepare(sys, parent.handle)
        } complete: {
          unsafe Tss2_Sys_ContextSave_Complete(sys, &context)
        }
      } catch { return }
      memory.savedKey = TPMMemory.SavedKey(
        context: context, name: parent.name, publicKey: parent.publicKey)
    }

    /// Loads a saved key; returns `nil` if the TPM was restarted or cleared since.
    private func load(_ saved: TPMMemory.SavedKey) throws(TPMFailure) -> Parent? {
      var context = saved.context
      var handle: UInt32 = 0
      do throws(TPMFailure) {
        try run("TPM2_ContextLoad") {
          unsafe Tss2_Sys_ContextLoad_Prepare(sys, &context)
        } complete: {
          unsafe Tss2_Sys_ContextLoad_Complete(sys, &handle)
        }
      } catch .response(_, let response) where response.isFromTPM && !response.isOutOfSlots {
        memory.savedKey = nil
        return nil
      }
      flushAtEnd(handle)
      return Parent(handle: handle, name: saved.name, publicKey: saved.publicKey)
    }
  }
#endif
