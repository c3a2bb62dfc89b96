import COpenSSL

/// Process-wide settings of OpenSSL.
public enum CryptoLibrary {
  /// Keeps OpenSSL from freeing its state at process exit, when other threads may still use it.
  ///
  /// Call it before any other use of OpenSSL in this process. The system frees the memory with the process, and
  /// `SecretBytes` wipes secrets independently.
  public static func keepsStateAtExit() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
