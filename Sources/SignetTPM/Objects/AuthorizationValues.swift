#if os(Linux)
  package import SignetCrypto

  /// Authorization values of 32 bytes for objects and indices.
  ///
  /// A TPM removes trailing zeros, so the last byte is never zero.
  package enum AuthorizationValues {
    /// Binds an object to its context; the value is secret only if the context is.
    package static func ofContext(_ context: [UInt8], _ purpose: String) -> SharedSecretBox {
      ofSecret(SecretBytes(copying: context), purpose)
    }

    /// Binds an object to a secret.
    static func ofSecret(_ secret: borrowing SecretBytes, _ purpose: String) -> SharedSecretBox {
      value(HKDF.derive(secret, purpose))
    }

    /// The authorization value of an index for a guess.
    package static func ofGuess(_ guess: borrowing SecretBytes, contextDigest: [UInt8], _ purpose: String)
      -> SharedSecretBox
    {
      value(
        HKDF.expand(
          HKDF.extract(salt: contextDigest, inputKey: guess, .sha256), info: Array(purpose.utf8),
          byteCount: 32,
          .sha256))
    }

    /// The SHA-256 of a context, which detects a wrong context before it costs a guess.
    package static func digest(ofContext context: [UInt8]) -> [UInt8] {
      HashFunction.sha256.digest(of: Array("signet tpm context v1".utf8) + context)
    }

    static func random() -> SharedSecretBox { value(SecretBytes.random(byteCount: 32)) }

    private static func value(_ secret: borrowing SecretBytes) -> SharedSecretBox {
      SharedSecretBox(
        secret.withUInt8Span { span in
          SecretBytes(byteCount: span.count) { output in
            for index in span.indices {
              output.append(index == span.count - 1 ? span[index] | 1 : span[index])
            }
          }
        })
    }
  }

  extension HKDF {
    fileprivate static func derive(_ key: borrowing SecretBytes, _ purpose: String) -> SecretBytes {
      let extracted = extract(salt: [UInt8](repeating: 0, count: 32), inputKey: key, .sha256)
      return expand(extracted, info: Array(purpose.utf8), byteCount: 32, .sha256)
    }
  }
#endif
