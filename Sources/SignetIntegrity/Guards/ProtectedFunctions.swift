/// The security-relevant functions of a library.
public struct ProtectedFunctions: Sendable, Hashable {
  /// The library's name without a version, as programs request it: `libcrypto.so`.
  public let library: String
  /// The names of the functions.
  public let functions: Set<String>

  /// Creates a list of functions of a library.
  public init(library: String, functions: Set<String>) {
    self.library = library
    self.functions = functions
  }

  /// The functions that handle Signet's secrets: keys, randomness, comparison, memory, time, and inspection of the system.
  public static let standard = [
    ProtectedFunctions(
      library: "libcrypto.so",
      functions: [
        "RAND_bytes", "RAND_priv_bytes", "RAND_bytes_ex", "RAND_priv_bytes_ex", "CRYPTO_memcmp",
        "OPENSSL_cleanse",
        "EVP_Digest", "EVP_DigestUpdate", "EVP_DigestFinal_ex", "EVP_DigestSign", "EVP_DigestSignInit",
        "EVP_DigestSignInit_ex", "EVP_DigestVerify", "EVP_DigestVerifyInit", "EVP_DigestVerifyInit_ex",
        "EVP_PKEY_sign", "EVP_PKEY_verify", "EVP_PKEY_derive", "EVP_PKEY_fromdata", "EVP_EncryptInit_ex",
        "EVP_EncryptInit_ex2", "EVP_EncryptUpdate", "EVP_DecryptInit_ex", "EVP_DecryptInit_ex2",
        "EVP_DecryptUpdate", "EVP_DecryptFinal_ex", "EVP_CipherInit_ex2", "EVP_CipherUpdate", "EVP_MAC_init",
        "EVP_MAC_update", "EVP_MAC_final", "EVP_KDF_derive", "PKCS5_PBKDF2_HMAC", "X509_verify_cert",
      ]),
    ProtectedFunctions(library: "libssl.so", functions: ["SSL_read", "SSL_write", "SSL_get_verify_result"]),
    ProtectedFunctions(
      library: "libargon2.so", functions: ["argon2_ctx", "argon2id_hash_raw", "argon2id_ctx"]),
    ProtectedFunctions(library: "libpam.so", functions: ["pam_authenticate", "pam_acct_mgmt", "pam_start"]),
    ProtectedFunctions(
      library: "libc.so",
      functions: [
        "read", "write", "open", "open64", "openat", "getrandom", "getentropy", "memcmp", "bcmp",
        "explicit_bzero",
        "clock_gettime", "time", "dlopen", "dlsym", "ptrace", "prctl", "mlock",
      ]),
  ]
}
