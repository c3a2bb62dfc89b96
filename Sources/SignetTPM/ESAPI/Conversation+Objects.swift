#if os(Linux)
  import CTPM2
  import SignetCrypto
  import SignetVault

  extension Conversation {
    /// A storage key that is ready for use.
    struct Parent {
      let handle: Handle
      let name: [UInt8]
    }

    /// What the TPM chose when it made an object.
    struct MadeObject {
      let unique: [UInt8]
      let privatePart: [UInt8]
    }

    /// Where the storage root key is kept, if somebody keeps it (TCG registry of reserved handles).
    static let storageRootKey: UInt32 = 0x8100_0001

    /// The storage key for new objects: the one that is kept in the TPM if it is what we would make, or else made anew.
    func parent() throws(TPMFailure) -> Parent {
      if let kept = try keptParent() { return kept }
      return try makeParent()
    }

    /// The storage key of a certain Name.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/replaced`` if this TPM has none: it was cleared, or it is another.
    func parent(named name: [UInt8]) throws(TPMFailure) -> Parent {
      if let kept = try keptParent(), kept.name == name { return kept }
      let made = try makeParent()
      guard made.name == name else { throw .keystore(.replaced) }
      return made
    }

    private func makeParent() throws(TPMFailure) -> Parent {
      var template = ObjectTemplate.storageKey
      var sensitive = TPM2B_SENSITIVE_CREATE()
      var outside = TPM2B_DATA()
      var registers = TPML_PCR_SELECTION()
      var handle = Self.none
      do throws(TPMFailure) {
        try check(
          "TPM2_CreatePrimary",
          unsafe Esys_CreatePrimary(
            esys, Self.owner, Self.password, Self.none, Self.none, &sensitive, &template, &outside,
            &registers,
            &handle,
            nil, nil, nil, nil))
      } catch  where error.kind == TPMResponse.badAuth || error.kind == TPMResponse.authFail {
        throw .keystore(.ownerPasswordSet)
      }
      flushLater(handle)
      return Parent(handle: handle, name: try name(of: handle))
    }

    private func keptParent() throws(TPMFailure) -> Parent? {
      guard try handles(from: Self.storageRootKey, count: 1).first == Self.storageRootKey else { return nil }
      let handle = try known(Self.storageRootKey)
      var publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?
      try check(
        "TPM2_ReadPublic",
        unsafe Esys_ReadPublic(esys, handle, Self.none, Self.none, Self.none, &publicPart, nil, nil))
      defer { unsafe free(publicPart) }
      // A key of another kind, or one with a policy, is somebody else's business.
      guard let area = unsafe publicPart?.pointee.publicArea, area.type == ObjectTemplate.ecc,
        area.nameAlg == ObjectTemplate.sha256, area.objectAttributes == ObjectTemplate.storageKeyAttributes
      else { return nil }
      return Parent(handle: handle, name: try name(of: handle))
    }

    /// The library's handle for what is kept in the TPM.
    func known(_ handle: UInt32) throws(TPMFailure) -> Handle {
      var result = Self.none
      try check(
        "TPM2_ReadPublic",
        unsafe Esys_TR_FromTPMPublic(esys, handle, Self.none, Self.none, Self.none, &result))
      return result
    }

    /// The Name of a key or index.
    func name(of handle: Handle) throws(TPMFailure) -> [UInt8] {
      var name: UnsafeMutablePointer<TPM2B_NAME>?
      try check("Esys_TR_GetName", unsafe Esys_TR_GetName(esys, handle, &name))
      defer { unsafe free(name) }
      guard let found = unsafe name?.pointee else { return [] }
      return prefix(found.name, found.size)
    }

    /// Makes an object; its authorization value, and the data if it is sealed, cross the bus encrypted.
    func create(
      _ template: TPM2B_PUBLIC, authorization: borrowing SecretBytes, data: borrowing SecretBytes,
      under parent: Parent, _ session: Handle
    ) throws(TPMFailure) -> MadeObject {
      try use(session, [.encryptingCommand])
      var template = template
      var outside = TPM2B_DATA()
      var registers = TPML_PCR_SELECTION()
      var privatePart: UnsafeMutablePointer<TPM2B_PRIVATE>?
      var publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?
      let sensitive = Wiped<TPM2B_SENSITIVE_CREATE>()
      let code = unsafe sensitive.withPointer { pointer in
        unsafe pointer.pointee.sensitive.userAuth.size =
          fill(&pointer.pointee.sensitive.userAuth.buffer, authorization)
        unsafe pointer.pointee.sensitive.data.size = fill(&pointer.pointee.sensitive.data.buffer, data)
        return unsafe Esys_Create(
          esys, parent.handle, session, Self.none, Self.none, pointer, &template, &outside, &registers,
          &privatePart, &publicPart, nil, nil, nil)
      }
      try check("TPM2_Create", code)
      defer {
        unsafe free(privatePart)
        unsafe free(publicPart)
      }
      guard let privatePart = unsafe privatePart?.pointee, let area = unsafe publicPart?.pointee.publicArea
      else {
        throw .keystore(.disconnected)
      }
      return MadeObject(
        unique: Self.unique(area), privatePart: prefix(privatePart.buffer, privatePart.size))
    }

    private static func unique(_ area: TPMT_PUBLIC) -> [UInt8] {
      guard area.type == ObjectTemplate.ecc else {
        return unsafe prefix(area.unique.keyedHash.buffer, area.unique.keyedHash.size)
      }
      func coordinate(_ number: TPM2B_ECC_PARAMETER) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, 32 - Int(number.size))) + prefix(number.buffer, number.size)
      }
      return unsafe coordinate(area.unique.ecc.x) + coordinate(area.unique.ecc.y)
    }

    /// Loads an object that was made under a storage key.
    ///
    /// That needs no session: the key's authorization value is empty, and the private part is encrypted by the TPM itself.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/refused`` if it was changed, or is not like the template.
    func load(
      _ privatePart: [UInt8], _ template: TPM2B_PUBLIC, under parent: Parent
    ) throws(TPMFailure) -> Handle {
      var template = template
      var input = TPM2B_PRIVATE()
      guard privatePart.count <= MemoryLayout.size(ofValue: input.buffer) else { throw .keystore(.refused) }
      input.size = fill(&input.buffer, privatePart)
      var handle = Self.none
      do throws(TPMFailure) {
        try check(
          "TPM2_Load",
          unsafe Esys_Load(
            esys, parent.handle, Self.password, Self.none, Self.none, &input, &template, &handle))
      } catch .response(_, let response) where response.saysArgumentIsWrong { throw .keystore(.refused) }
      flushLater(handle)
      return handle
    }

    /// The data that was sealed in a loaded object; it crosses the bus encrypted.
    func unseal(_ handle: Handle, _ session: Handle) throws(TPMFailure) -> SecretBytes {
      try use(session, [.encryptingAnswer])
      var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
      try check("TPM2_Unseal", unsafe Esys_Unseal(esys, handle, session, Self.none, Self.none, &data))
      guard let found = unsafe data else { throw .keystore(.disconnected) }
      defer {
        unsafe wipe(
          UnsafeMutableRawBufferPointer(start: found, count: MemoryLayout<TPM2B_SENSITIVE_DATA>.size))
        unsafe free(found)
      }
      let size = unsafe Int(found.pointee.size)
      return unsafe withUnsafeBytes(of: &found.pointee.buffer) { buffer in
        SecretBytes(copying: unsafe UnsafeRawBufferPointer(rebasing: buffer.prefix(size)).bytes)
      }
    }

    /// Signs a digest of 32 bytes with a loaded key.
    func sign(_ digest: [UInt8], _ handle: Handle, _ session: Handle) throws(TPMFailure) -> [UInt8] {
      try use(session, [])
      var input = TPM2B_DIGEST()
      input.size = fill(&input.buffer, digest)
      var scheme = TPMT_SIG_SCHEME()
      scheme.scheme = ObjectTemplate.null
      var ticket = TPMT_TK_HASHCHECK()
      ticket.tag = 0x8024
      ticket.hierarchy = 0x4000_0007
      var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
      try check(
        "TPM2_Sign",
        unsafe Esys_Sign(esys, handle, session, Self.none, Self.none, &input, &scheme, &ticket, &signature))
      defer { unsafe free(signature) }
      guard let ecdsa = unsafe signature?.pointee.signature.ecdsa else { throw .keystore(.disconnected) }
      return [ecdsa.signatureR, ecdsa.signatureS].flatMap { number in
        [UInt8](repeating: 0, count: max(0, 32 - Int(number.size))) + prefix(number.buffer, number.size)
      }
    }
  }
#endif
