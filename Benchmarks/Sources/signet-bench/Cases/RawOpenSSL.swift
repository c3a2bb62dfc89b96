import COpenSSL
import SignetCrypto

/// The minimum cost of a verification: one digest and one `EVP_PKEY_verify`, with everything else prepared.
@safe final class RawVerification {
  private let context: OpaquePointer
  private let digest: OpaquePointer
  private let message: [UInt8]
  private let signature: [UInt8]
  private var hash = [UInt8](repeating: 0, count: 32)

  /// Prepares a public key of 65 bytes and a signature in DER for OpenSSL.
  init(point: [UInt8], signature: [UInt8], message: [UInt8]) throws {
    let curve = try unsafe RawKey.generate()
    defer { unsafe EVP_PKEY_free(curve) }
    let key = try unsafe RawKey.publicKey(point, on: curve)
    defer { unsafe EVP_PKEY_free(key) }
    unsafe context = try RawKey.require(EVP_PKEY_CTX_new(key, nil), "EVP_PKEY_CTX_new")
    unsafe digest = try RawKey.require(EVP_MD_fetch(nil, "SHA256", nil), "EVP_MD_fetch")
    (self.message, self.signature) = (message, signature)
    try unsafe RawKey.require(EVP_PKEY_verify_init(context), "EVP_PKEY_verify_init")
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(context)
    unsafe EVP_MD_free(digest)
  }

  func run() throws {
    try unsafe RawKey.require(EVP_Digest(message, message.count, &hash, nil, digest, nil), "EVP_Digest")
    try unsafe RawKey.require(
      EVP_PKEY_verify(context, signature, signature.count, hash, hash.count), "EVP_PKEY_verify")
  }
}

/// The minimum cost of a decryption with ECDH-ES and A256GCM, with everything reusable prepared.
@safe final class RawDecryption {
  private let ownKey: OpaquePointer
  private let agreement: OpaquePointer
  private let digest: OpaquePointer
  private let cipher: OpaquePointer
  private let peerPoint: [UInt8]
  private var sharedSecret = [UInt8](repeating: 0, count: 32)
  /// Counter, shared secret and other information of the key derivation (RFC 7518 section 4.6.2).
  private var keyInput = [UInt8](repeating: 7, count: 4 + 32 + 23)
  private var key = [UInt8](repeating: 0, count: 32)
  private let nonce = [UInt8](repeating: 1, count: 12)
  private let additionalData: [UInt8]
  private var ciphertext: [UInt8] = []
  private var tag = [UInt8](repeating: 0, count: 16)
  private var plaintext: [UInt8]

  init(plaintextByteCount: Int, additionalDataByteCount: Int) throws {
    unsafe ownKey = try RawKey.generate()
    let peer = try unsafe RawKey.generate()
    defer { unsafe EVP_PKEY_free(peer) }
    peerPoint = try unsafe RawKey.point(of: peer)
    unsafe agreement = try RawKey.require(EVP_PKEY_CTX_new(ownKey, nil), "EVP_PKEY_CTX_new")
    unsafe digest = try RawKey.require(EVP_MD_fetch(nil, "SHA256", nil), "EVP_MD_fetch")
    unsafe cipher = try RawKey.require(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
    additionalData = [UInt8](repeating: 0x61, count: additionalDataByteCount)
    plaintext = [UInt8](repeating: 0x78, count: plaintextByteCount)
    try unsafe RawKey.require(EVP_PKEY_derive_init(agreement), "EVP_PKEY_derive_init")
    try agree()
    try deriveKey()
    try seal()
  }

  deinit {
    unsafe EVP_PKEY_free(ownKey)
    unsafe EVP_PKEY_CTX_free(agreement)
    unsafe EVP_MD_free(digest)
    unsafe EVP_CIPHER_CTX_free(cipher)
  }

  /// Decodes the sender's point and agrees, without the check of the peer's order, which a cofactor of 1 makes needless.
  func agree() throws {
    let peer = try unsafe RawKey.publicKey(peerPoint, on: ownKey)
    defer { unsafe EVP_PKEY_free(peer) }
    try unsafe RawKey.require(EVP_PKEY_derive_set_peer_ex(agreement, peer, 0), "EVP_PKEY_derive_set_peer_ex")
    var count = sharedSecret.count
    try unsafe RawKey.require(EVP_PKEY_derive(agreement, &sharedSecret, &count), "EVP_PKEY_derive")
  }

  /// The complete work: agreement, one SHA-256 for the key, one AES-256-GCM.
  func run() throws {
    try agree()
    try deriveKey()
    try unsafe RawKey.require(EVP_DecryptInit_ex2(cipher, nil, key, nonce, nil), "EVP_DecryptInit_ex2")
    var count: Int32 = 0
    try unsafe RawKey.require(
      EVP_DecryptUpdate(cipher, nil, &count, additionalData, Int32(additionalData.count)), "EVP_DecryptUpdate"
    )
    try unsafe RawKey.require(
      EVP_DecryptUpdate(cipher, &plaintext, &count, ciphertext, Int32(ciphertext.count)), "EVP_DecryptUpdate")
    try unsafe RawKey.require(
      EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, &tag), "EVP_CTRL_AEAD_SET_TAG")
    try unsafe RawKey.require(EVP_DecryptFinal_ex(cipher, nil, &count), "EVP_DecryptFinal_ex")
  }

  private func deriveKey() throws {
    for index in 0..<32 { keyInput[4 + index] = sharedSecret[index] }
    try unsafe RawKey.require(EVP_Digest(keyInput, keyInput.count, &key, nil, digest, nil), "EVP_Digest")
  }

  private func seal() throws {
    let gcm = try unsafe RawKey.require(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "EVP_CIPHER_fetch")
    defer { unsafe EVP_CIPHER_free(gcm) }
    ciphertext = plaintext
    var count: Int32 = 0
    try unsafe RawKey.require(EVP_EncryptInit_ex2(cipher, gcm, key, nonce, nil), "EVP_EncryptInit_ex2")
    try unsafe RawKey.require(
      EVP_EncryptUpdate(cipher, nil, &count, additionalData, Int32(additionalData.count)), "EVP_EncryptUpdate"
    )
    try unsafe RawKey.require(
      EVP_EncryptUpdate(cipher, &ciphertext, &count, plaintext, Int32(plaintext.count)), "EVP_EncryptUpdate")
    try unsafe RawKey.require(EVP_EncryptFinal_ex(cipher, nil, &count), "EVP_EncryptFinal_ex")
    try unsafe RawKey.require(
      EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, &tag), "EVP_CTRL_AEAD_GET_TAG")
    try unsafe RawKey.require(EVP_DecryptInit_ex2(cipher, gcm, key, nonce, nil), "EVP_DecryptInit_ex2")
  }
}

/// The minimum cost of a one-time code: HMAC-SHA-1 of 8 bytes with a prepared key.
@safe final class RawHMAC {
  private let context: OpaquePointer
  private var code = [UInt8](repeating: 0, count: 20)
  private var message = [UInt8](repeating: 0, count: 8)

  init(key: [UInt8]) throws {
    let mac = try unsafe RawKey.require(EVP_MAC_fetch(nil, "HMAC", nil), "EVP_MAC_fetch")
    defer { unsafe EVP_MAC_free(mac) }
    unsafe context = try RawKey.require(EVP_MAC_CTX_new(mac), "EVP_MAC_CTX_new")
    var name = Array("SHA1".utf8CString)
    let result = unsafe name.withUnsafeMutableBufferPointer { name in
      var parameters = unsafe [
        OSSL_PARAM_construct_utf8_string("digest", name.baseAddress, 0), OSSL_PARAM_construct_end(),
      ]
      return unsafe EVP_MAC_init(context, key, key.count, &parameters)
    }
    try RawKey.require(result, "EVP_MAC_init")
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  func run() throws {
    message[7] &+= 1
    try unsafe RawKey.require(EVP_MAC_init(context, nil, 0, nil), "EVP_MAC_init")
    try unsafe RawKey.require(EVP_MAC_update(context, message, message.count), "EVP_MAC_update")
    var count = 0
    try unsafe RawKey.require(EVP_MAC_final(context, &code, &count, code.count), "EVP_MAC_final")
  }
}

/// P-256 keys of OpenSSL, with its results as errors.
enum RawKey {
  struct Failure: Error {
    let function: String
  }

  static func require(_ result: Int32, _ function: String) throws {
    guard result == 1 else { throw Failure(function: function) }
  }

  static func require(_ result: OpaquePointer?, _ function: String) throws -> OpaquePointer {
    guard let result = unsafe result else { throw Failure(function: function) }
    return unsafe result
  }

  /// Generates a key pair.
  static func generate() throws -> OpaquePointer {
    let context = try unsafe require(EVP_PKEY_CTX_new_from_name(nil, "EC", nil), "EVP_PKEY_CTX_new_from_name")
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try unsafe require(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
    try unsafe require(EVP_PKEY_CTX_set_group_name(context, "P-256"), "EVP_PKEY_CTX_set_group_name")
    var key: OpaquePointer?
    try unsafe require(EVP_PKEY_generate(context, &key), "EVP_PKEY_generate")
    return try unsafe require(key, "EVP_PKEY_generate")
  }

  /// Returns the key of a point on the curve of another key, OpenSSL's fastest way.
  static func publicKey(_ point: [UInt8], on other: OpaquePointer) throws -> OpaquePointer {
    let key = try unsafe require(EVP_PKEY_new(), "EVP_PKEY_new")
    try unsafe require(EVP_PKEY_copy_parameters(key, other), "EVP_PKEY_copy_parameters")
    try unsafe require(
      EVP_PKEY_set1_encoded_public_key(key, point, point.count), "EVP_PKEY_set1_encoded_public_key")
    return unsafe key
  }

  /// The uncompressed point of a key, 65 bytes.
  static func point(of key: OpaquePointer) throws -> [UInt8] {
    var point = [UInt8](repeating: 0, count: 65)
    var count = 0
    try unsafe require(
      EVP_PKEY_get_octet_string_param(key, "pub", &point, point.count, &count),
      "EVP_PKEY_get_octet_string_param")
    return point
  }
}
