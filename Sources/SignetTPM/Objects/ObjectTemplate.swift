#if os(Linux)
  package import CTPM2
  import SignetCrypto

  /// The public parts of the objects that this module makes.
  ///
  /// Blobs hold only the values that the TPM chose, never attributes or policies. An object that differs from its template
  /// does not load.
  package enum ObjectTemplate {
    // Attributes (part 2 section 8.3).
    private static let fixedTPM: UInt32 = 1 << 1
    private static let fixedParent: UInt32 = 1 << 4
    private static let sensitiveDataOrigin: UInt32 = 1 << 5
    private static let userWithAuth: UInt32 = 1 << 6
    private static let adminWithPolicy: UInt32 = 1 << 7
    private static let noDA: UInt32 = 1 << 10
    private static let restricted: UInt32 = 1 << 16
    private static let decrypt: UInt32 = 1 << 17
    private static let sign: UInt32 = 1 << 18

    // Algorithms and a curve (part 2 sections 6.3 and 6.4).
    static let aes: UInt16 = 0x0006
    static let keyedHash: UInt16 = 0x0008
    static let sha256: UInt16 = 0x000B
    static let null: UInt16 = 0x0010
    static let ecdsa: UInt16 = 0x0018
    static let ecc: UInt16 = 0x0023
    static let cfb: UInt16 = 0x0043
    private static let p256: UInt16 = 0x0003

    static let storageKeyAttributes =
      fixedTPM | fixedParent | sensitiveDataOrigin | userWithAuth | noDA | restricted | decrypt
    static let signingKeyAttributes =
      fixedTPM | fixedParent | sensitiveDataOrigin | userWithAuth | noDA | sign

    /// The P-256 storage root key of the TCG's provisioning guidance: identical in every call until the TPM is cleared.
    static var storageKey: TPM2B_PUBLIC {
      var result = elliptic(storageKeyAttributes)
      unsafe result.publicArea.parameters.eccDetail.symmetric.algorithm = aes
      unsafe result.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128
      unsafe result.publicArea.parameters.eccDetail.symmetric.mode.aes = cfb
      unsafe result.publicArea.parameters.eccDetail.scheme.scheme = null
      return result
    }

    /// A P-256 key that signs with ECDSA and SHA-256; the TPM makes it and never exports it.
    static var signingKey: TPM2B_PUBLIC {
      var result = elliptic(signingKeyAttributes)
      unsafe result.publicArea.parameters.eccDetail.symmetric.algorithm = null
      unsafe result.publicArea.parameters.eccDetail.scheme.scheme = ecdsa
      unsafe result.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = sha256
      return result
    }

    /// The public part of an existing signing key.
    package static func signingKey(x: [UInt8], y: [UInt8]) -> TPM2B_PUBLIC {
      var result = signingKey
      unsafe result.publicArea.unique.ecc.x.size = fill(&result.publicArea.unique.ecc.x.buffer, x)
      unsafe result.publicArea.unique.ecc.y.size = fill(&result.publicArea.unique.ecc.y.buffer, y)
      return result
    }

    /// Sealed data that opens with its authorization value; the value is not a secret that could be guessed.
    package static func sealedData(unique: [UInt8] = []) -> TPM2B_PUBLIC {
      data(fixedTPM | fixedParent | userWithAuth | noDA, policy: [], unique)
    }

    /// Sealed data that opens after the PIN of an index was verified, and with its own authorization value.
    ///
    /// The TPM's global lockout limits wrong guesses at the object's own value.
    package static func guessLimitedData(policy: [UInt8], unique: [UInt8] = []) -> TPM2B_PUBLIC {
      data(fixedTPM | fixedParent | adminWithPolicy, policy: policy, unique)
    }

    /// The field that distinguishes objects of one template: `unique` of sealed data, X and Y of a key.
    static func unique(_ area: TPMT_PUBLIC) -> [UInt8] {
      guard area.type == ecc else {
        return unsafe prefix(area.unique.keyedHash.buffer, area.unique.keyedHash.size)
      }
      return unsafe coordinate(area.unique.ecc.x) + coordinate(area.unique.ecc.y)
    }

    /// A coordinate or number of P-256 in 32 bytes, big-endian.
    static func coordinate(_ number: TPM2B_ECC_PARAMETER) -> [UInt8] {
      [UInt8](repeating: 0, count: max(0, 32 - Int(number.size))) + prefix(number.buffer, number.size)
    }

    /// The Name of an object (part 1 section 16): algorithm and SHA-256 of its public part.
    static func name(_ area: TPMT_PUBLIC) throws(TPMFailure) -> [UInt8] {
      var area = area
      var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPMT_PUBLIC>.size)
      var count = 0
      let code = unsafe Tss2_MU_TPMT_PUBLIC_Marshal(&area, &bytes, bytes.count, &count)
      guard code == 0 else { throw .response(call: "Tss2_MU_TPMT_PUBLIC_Marshal", TPMResponse(code)) }
      return sha256.bigEndianBytes + HashFunction.sha256.digest(of: Array(bytes[..<count]))
    }

    private static func elliptic(_ attributes: UInt32) -> TPM2B_PUBLIC {
      var result = TPM2B_PUBLIC()
      result.publicArea.type = ecc
      result.publicArea.nameAlg = sha256
      result.publicArea.objectAttributes = attributes
      unsafe result.publicArea.parameters.eccDetail.curveID = p256
      unsafe result.publicArea.parameters.eccDetail.kdf.scheme = null
      return result
    }

    private static func data(_ attributes: UInt32, policy: [UInt8], _ unique: [UInt8]) -> TPM2B_PUBLIC {
      var result = TPM2B_PUBLIC()
      result.publicArea.type = keyedHash
      result.publicArea.nameAlg = sha256
      result.publicArea.objectAttributes = attributes
      result.publicArea.authPolicy.size = fill(&result.publicArea.authPolicy.buffer, policy)
      unsafe result.publicArea.parameters.keyedHashDetail.scheme.scheme = null
      unsafe result.publicArea.unique.keyedHash.size = fill(
        &result.publicArea.unique.keyedHash.buffer, unique)
      return result
    }
  }
#endif
