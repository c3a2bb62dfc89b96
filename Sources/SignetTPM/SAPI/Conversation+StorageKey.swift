#if os(Linux)
  import CTPM2
  import SignetCrypto
  import SignetVault

  /// A storage key that is ready for use.
  package struct Parent {
    package let handle: UInt32
    /// Computed from the public part, and not taken from the TPM's word.
    let name: [UInt8]
    let publicKey: P256.KeyAgreement.PublicKey
  }

  extension Conversation {
    /// Where the storage root key is kept, if somebody keeps it (TCG registry of reserved handles).
    static let storageRootKey: UInt32 = 0x8100_0001

    /// The storage key for new objects.
    ///
    /// That is the one that was used before; else the one that is kept in the TPM if it is what we would make, or else one made
    /// anew.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/replaced`` if this TPM no longer has the one that was used before.
    package func parent() throws(TPMFailure) -> Parent {
      if let name = memory.pinnedName { return try parent(named: name) }
      if let kept = try keptParent() { return remember(kept) }
      return remember(try makeParent())
    }

    /// The storage key of a certain Name.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/replaced`` if this TPM has none: it was cleared, or it is another.
    func parent(named name: [UInt8]) throws(TPMFailure) -> Parent {
      if let known = parents.first(where: { $0.name == name }) { return known }
      if let saved = memory.savedKey, saved.name == name, let parent = try load(saved) {
        return remember(parent)
      }
      if let kept = try keptParent(), kept.name == name { return remember(kept) }
      let made = try makeParent()
      guard made.name == name else { throw .keystore(.replaced) }
      return remember(made)
    }

    private func remember(_ parent: Parent) -> Parent {
      memory.pin(parent.name)
      parents.append(parent)
      return parent
    }

    private func makeParent() throws(TPMFailure) -> Parent {
      var template = ObjectTemplate.storageKey
      var sensitive = TPM2B_SENSITIVE_CREATE()
      var outside = TPM2B_DATA()
      var registers = TPML_PCR_SELECTION()
      var handle: UInt32 = 0
      var made = TPM2B_PUBLIC()
      var (creation, hash, ticket) = (TPM2B_CREATION_DATA(), TPM2B_DIGEST(), TPMT_TK_CREATION())
      var name = TPM2B_NAME()
      do throws(TPMFailure) {
        try run("TPM2_CreatePrimary", .empty) {
          unsafe Tss2_Sys_CreatePrimary_Prepare(
            sys, Self.owner, &sensitive, &template, &outside, &registers)
        } complete: {
          unsafe Tss2_Sys_CreatePrimary_Complete(sys, &handle, &made, &creation, &hash, &ticket, &name)
        }
      } catch  where error.kind == TPMResponse.badAuth || error.kind == TPMResponse.authFail {
        throw .keystore(.ownerPasswordSet)
      }
      flushAtEnd(handle)
      guard let parent = try storageKey(made.publicArea, handle) else { throw .keystore(.disconnected) }
      save(parent)
      return parent
    }

    private func keptParent() throws(TPMFailure) -> Parent? {
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

    /// A storage key as ours are; `nil` for a key of another kind, or one with a policy, which is somebody else's business.
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

    /// Has the TPM save a key; where it cannot, the key is made anew the next time.
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

    /// Loads a key that the TPM saved; `nil` if it was restarted or cleared since.
    private func load(_ saved: TPMMemory.SavedKey) throws(TPMFailure) -> Parent? {
      var context = saved.context
      var handle: UInt32 = 0
      do throws(TPMFailure) {
        try run("TPM2_ContextLoad") {
          unsafe Tss2_Sys_ContextLoad_Prepare(sys, &context)
        } complete: {
          unsafe Tss2_Sys_ContextLoad_Complete(sys, &handle)
        }
      } catch .response(_, let response) where response.isFromTPM && !response.saysNoPlaceIsLeft {
        memory.savedKey = nil
        return nil
      }
      flushAtEnd(handle)
      return Parent(handle: handle, name: saved.name, publicKey: saved.publicKey)
    }
  }
#endif
