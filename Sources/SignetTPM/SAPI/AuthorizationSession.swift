#if os(Linux)
  import CTPM2
  import SignetCrypto

  /// A session with the TPM: the shared key, and the nonces that change with each command.
  ///
  /// Commands are authorized, and answers authenticated, with HMAC-SHA256; first parameters are encrypted with AES-128-CFB
  /// (TPM 2.0 Library, part 1 sections 17.6 and 21).
  package final class AuthorizationSession {
    let handle: UInt32
    private let key: SecretBytes
    private var nonceTPM: [UInt8]
    private var nonceCaller: [UInt8] = []
    /// True if policy commands may have changed the session since it started.
    var hasProgress = false

    /// The session's functions in one command, in addition to authorization (part 2 section 8.4).
    struct Attributes: OptionSet {
      let rawValue: UInt8
      /// The session remains after the command.
      static let continues = Attributes(rawValue: 0x01)
      /// Encrypts the first parameter of the command.
      static let encryptingCommand = Attributes(rawValue: 0x20)
      /// Encrypts the first parameter of the answer.
      static let encryptingAnswer = Attributes(rawValue: 0x40)
    }

    static let nonceByteCount = 32

    /// Creates the state of a session that the TPM has started.
    init(handle: UInt32, salt: Salt, nonceCaller: [UInt8], nonceTPM: [UInt8]) {
      (self.handle, self.nonceTPM) = (handle, nonceTPM)
      key = salt.secret.withSecret { Self.derive($0, "ATH", nonceTPM, nonceCaller) }
    }

    /// The Name of a session is its handle.
    var name: [UInt8] { handle.bigEndianBytes }

    /// Generates the nonce of the next command.
    func begin() -> [UInt8] {
      nonceCaller = SecureRandom.bytes(Self.nonceByteCount)
      return nonceCaller
    }

    func code(ofCommand hash: [UInt8], _ attributes: Attributes, _ value: SharedSecretBox?) -> [UInt8] {
      HMACKey(sessionValue(value), .sha256).authenticationCode(
        for: hash + nonceCaller + nonceTPM + [attributes.rawValue])
    }

    /// Stores the nonce of an answer and verifies the HMAC; returns false if the answer is not from the TPM.
    func accepts(
      _ code: [UInt8], ofAnswer hash: [UInt8], nonce: [UInt8], _ attributes: UInt8, _ value: SharedSecretBox?
    ) -> Bool {
      nonceTPM = nonce
      return HMACKey(sessionValue(value), .sha256).isValid(
        code, for: hash + nonce + nonceCaller + [attributes])
    }

    func encrypted(
      _ parameter: borrowing SecretBytes, _ value: SharedSecretBox?
    ) throws(CryptoFailure) -> [UInt8] {
      let keys = CipherKeys(Self.derive(sessionValue(value), "CFB", nonceCaller, nonceTPM))
      return try AESCFB.encrypt(parameter, key: keys.key, initializationVector: keys.vector)
    }

    func decrypted(_ parameter: [UInt8], _ value: SharedSecretBox?) throws(CryptoFailure) -> SecretBytes {
      let keys = CipherKeys(Self.derive(sessionValue(value), "CFB", nonceTPM, nonceCaller))
      return try AESCFB.decrypt(parameter, key: keys.key, initializationVector: keys.vector)
    }

    /// The session key, followed by the authorization value of the authorized entity.
    private func sessionValue(_ value: SharedSecretBox?) -> SecretBytes {
      guard let value else { return key.copy() }
      return value.withSecret { key.joined(with: $0) }
    }

    /// KDFa with SHA-256 for 256 bits, which is one round (part 1 section 11.4.10.2).
    private static func derive(
      _ key: borrowing SecretBytes, _ label: String, _ first: [UInt8], _ second: [UInt8]
    ) -> SecretBytes {
      let bitCount: UInt32 = 256
      return HMACKey(key, .sha256).secretAuthenticationCode(
        for: UInt32(1).bigEndianBytes + Array(label.utf8) + [0] + first + second + bitCount.bigEndianBytes)
    }

    private struct CipherKeys: ~Copyable {
      let key: SecretBytes
      let vector: SecretBytes

      init(_ bytes: borrowing SecretBytes) {
        key = bytes.withBytes { SecretBytes(copying: $0.extracting(first: 16)) }
        vector = bytes.withBytes { SecretBytes(copying: $0.extracting(droppingFirst: 16)) }
      }
    }
  }

  /// A secret shared only with the TPM that has a certain storage key (part 1 section C.6.1).
  struct Salt {
    let secret: SharedSecretBox
    /// The public part of the ephemeral key pair, from which the TPM derives the secret.
    let point: P256.KeyAgreement.PublicKey

    init(for peer: P256.KeyAgreement.PublicKey) throws(CryptoFailure) {
      let ephemeral = P256.KeyAgreement.PrivateKey()
      let shared = try ephemeral.sharedSecret(with: peer)
      // KDFe with SHA-256; one round is enough.
      var hash = IncrementalHash(.sha256)
      hash.update(UInt32(1).bigEndianBytes)
      shared.withBytes { hash.update($0) }
      hash.update(Array("SECRET".utf8) + [0] + ephemeral.publicKey.x + peer.x)
      var digest = hash.finish()
      secret = SharedSecretBox(SecretBytes(copying: digest))
      digest.wipe()
      point = ephemeral.publicKey
    }
  }
#endif
