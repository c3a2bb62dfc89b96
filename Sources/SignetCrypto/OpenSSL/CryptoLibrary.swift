import COpenSSL

/// What a program settles of OpenSSL before it uses it.
public enum CryptoLibrary {
  /// Has OpenSSL leave its state alone when the process exits: threads may still use it then, and the memory goes with the process.
  ///
  /// Takes effect where it comes before any other use of OpenSSL in this process; secrets in `SecretBytes` are wiped by their owners.
  public static func keepsStateAtExit() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
