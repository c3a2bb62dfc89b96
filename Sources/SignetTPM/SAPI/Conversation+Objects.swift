#if os(Linux)
  package import CTPM2
  package import SignetCrypto
  import SignetVault

  extension Conversation {
    package struct Object {
      package let handle: UInt32
      /// Computed from the template, so that a substituted object is not accepted.
      let name: [UInt8]
    }

    /// The values that the TPM chose for a new object.
    struct CreatedObject {
      let unique: [UInt8]
      let privatePart: [UInt8]
    }

    /// Makes an object; its authorization value, and sealed data, cross the bus encrypted.
    func create(
      _ template: TPM2B_PUBLIC, value: SharedSecretBox, data: borrowing SecretBytes, under parent: Parent
    ) throws(TPMFailure) -> CreatedObject {
      let session = try session(saltedFor: parent)
      var template = template
      var outsideInfo = TPM2B_DATA()
      var creationPCR = TPML_PCR_SELECTION()
      var privatePart = TPM2B_PRIVATE()
      var publicPart = TPM2B_PUBLIC()
      var (creation, hash, ticket) = (TPM2B_CREATION_DATA(), TPM2B_DIGEST(), TPMT_TK_CREATION())
      let sensitive = Wiped<TPM2B_SENSITIVE_CREATE>()
      unsafe sensitive.withPointer { pointer in
        unsafe pointer.pointee.sensitive.userAuth.size =
          value.withSecret { unsafe fill(&pointer.pointee.sensitive.userAuth.buffer, $0) }
        unsafe pointer.pointee.sensitive.data.size = fill(&pointer.pointee.sensitive.data.buffer, data)
      }
      let authorization = Authorization.session(session, nil, .encryptingCommand, names: [parent.name])
      try unsafe sensitive.withPointer { (pointer) throws(TPMFailure) in
        try run("TPM2_Create", authorization) {
          unsafe Tss2_Sys_Create_Prepare(sys, parent.handle, pointer, &template, &outsideInfo, &creationPCR)
        } complete: {
          unsafe Tss2_Sys_Create_Complete(sys, &privatePart, &publicPart, &creation, &hash, &ticket)
        }
      }
      return CreatedObject(
        unique: ObjectTemplate.unique(publicPart.publicArea),
        privatePart: prefix(privatePart.buffer, privatePart.size))
    }

    /// Loads an object that was made under a storage key, until the end of the keystore call.
    ///
    /// This needs no session: the key's authorization value is empty, and the private part is encrypted by the TPM itself.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure/refused`` if the object was changed or does not match the template.
    package func load(
      _ privatePart: [UInt8], _ template: TPM2B_PUBLIC, under parent: Parent
    ) throws(TPMFailure) -> Object {
      var template = template
      var input = TPM2B_PRIVATE()
      guard privatePart.count <= MemoryLayout.size(ofValue: input.buffer) else { throw .keystore(.refused) }
      input.size = fill(&input.buffer, privatePart)
      var handle: UInt32 = 0
      var name = TPM2B_NAME()
      do throws(TPMFailure) {
        try run("TPM2_Load", .empty) {
          unsafe Tss2_Sys_Load_Prepare(sys, parent.handle, &input, &template)
        } complete: {
          unsafe Tss2_Sys_Load_Complete(sys, &handle, &name)
        }
      } catch .response(_, let response) where response.isArgumentError { throw .keystore(.refused) }
      flushAfterCall(handle)
      return Object(handle: handle, name: try ObjectTemplate.name(template.publicArea))
    }

    /// Unseals the data of a loaded object; it crosses the bus encrypted.
    package func unseal(
      _ object: Object, _ session: AuthorizationSession, value: SharedSecretBox
    ) throws(TPMFailure) -> SecretBytes {
      let data = Wiped<TPM2B_SENSITIVE_DATA>()
      let authorization = Authorization.session(session, value, .encryptingAnswer, names: [object.name])
      try unsafe data.withPointer { (pointer) throws(TPMFailure) in
        try run("TPM2_Unseal", authorization) {
          unsafe Tss2_Sys_Unseal_Prepare(sys, object.handle)
        } complete: {
          unsafe Tss2_Sys_Unseal_Complete(sys, pointer)
        }
      }
      return unsafe data.withPointer { pointer in
        let size = unsafe Int(pointer.pointee.size)
        return unsafe withUnsafeBytes(of: &pointer.pointee.buffer) { buffer in
          SecretBytes(copying: unsafe UnsafeRawBufferPointer(rebasing: buffer.prefix(size)).bytes)
        }
      }
    }

    /// Signs a digest of 32 bytes with a loaded key.
    func sign(
      _ digest: [UInt8], _ object: Object, _ session: AuthorizationSession, value: SharedSecretBox
    ) throws(TPMFailure) -> [UInt8] {
      var input = TPM2B_DIGEST()
      input.size = fill(&input.buffer, digest)
      var scheme = TPMT_SIG_SCHEME()
      scheme.scheme = ObjectTemplate.null
      var ticket = TPMT_TK_HASHCHECK()
      ticket.tag = 0x8024
      ticket.hierarchy = 0x4000_0007
      var signature = TPMT_SIGNATURE()
      try run("TPM2_Sign", .session(session, value, names: [object.name])) {
        unsafe Tss2_Sys_Sign_Prepare(sys, object.handle, &input, &scheme, &ticket)
      } complete: {
        unsafe Tss2_Sys_Sign_Complete(sys, &signature)
      }
      let ecdsa = unsafe signature.signature.ecdsa
      return [ecdsa.signatureR, ecdsa.signatureS].flatMap { ObjectTemplate.coordinate($0) }
    }
  }
#endif
