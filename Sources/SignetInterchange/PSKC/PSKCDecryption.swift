import SignetCrypto

/// The keys that verify and decrypt a PSKC document (RFC 6030 section 6).
struct PSKCDecryption {
  /// A cipher of XML Encryption.
  enum Cipher: String, CaseIterable {
    case aes128CBC = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
    case aes256CBC = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"

    var keyByteCount: Int { self == .aes128CBC ? 16 : 32 }
  }

  /// A MAC algorithm of XML Signature.
  enum MAC: String, CaseIterable {
    case hmacSHA1 = "http://www.w3.org/2000/09/xmldsig#hmac-sha1"
    case hmacSHA256 = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"
    case hmacSHA512 = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512"

    var hash: HashFunction {
      switch self {
      case .hmacSHA1: .sha1
      case .hmacSHA256: .sha256
      case .hmacSHA512: .sha512
      }
    }
  }

  private let encryptionKey: PSKCEncryptionKey?
  private let key: SharedSecretBox?
  private let isPassword: Bool
  private let mac: (key: HMACKey, MAC)?

  /// Indicates whether the document names an encryption key.
  var isEncrypted: Bool { key != nil }

  /// Prepares the keys; a plain document needs none.
  init(_ root: MarkupElement, _ encryptionKey: PSKCEncryptionKey?) throws(InterchangeFailure) {
    self.encryptionKey = encryptionKey
    guard let encryption = root["EncryptionKey"] else {
      key = nil
      isPassword = false
      mac = nil
      return
    }
    if let derived = encryption["DerivedKey"] {
      guard case .password(let password)? = encryptionKey else { throw .passwordNeeded(.pskc) }
      key = try Self.derived(derived, password)
      isPassword = true
    } else if encryption["X509Data"] != nil {
      throw .unsupportedEncryption(
        .pskc, reason: "it is encrypted to a certificate; ask for one with a password")
    } else {
      guard case .preShared(let secret)? = encryptionKey else {
        throw .unsupportedEncryption(.pskc, reason: "it is encrypted under a pre-shared key; give that key")
      }
      (key, isPassword) = (secret, false)
    }
    guard let method = root["MACMethod"], let key else {
      mac = nil
      return
    }
    guard let algorithm = MAC(rawValue: method.attributes["Algorithm"] ?? "") else {
      throw .unsupportedEncryption(.pskc, reason: "its authentication code is not known")
    }
    let wrapped = method["MACKey"]
    let macKey: SharedSecretBox
    if let wrapped {
      var bytes = try Self.decrypt(try Self.value(wrapped), wrapped, key, isPassword: isPassword)
      defer { bytes.withUnsafeMutableBytes { wipe($0) } }
      macKey = SharedSecretBox(SecretBytes(copying: bytes))
    } else {
      macKey = key
    }
    mac = (macKey.withSecret { HMACKey($0, algorithm.hash) }, algorithm)
  }

  private static func derived(
    _ element: MarkupElement, _ password: SharedSecretBox
  ) throws(InterchangeFailure) -> SharedSecretBox {
    guard let method = element["KeyDerivationMethod"],
      method.attributes["Algorithm"]?.hasSuffix("#pbkdf2") == true, let parameters = method["PBKDF2-params"]
    else { throw .unsupportedEncryption(.pskc, reason: "its key is not derived with PBKDF2") }
    guard let salt = parameters.text("Salt", "Specified").flatMap(InterchangeText.base64),
      let iterations: Int = parameters.text("IterationCount").flatMap({ InterchangeText.number($0) })
    else { throw .unsupportedEncryption(.pskc, reason: "its key derivation lacks salt or iterations") }
    let count: Int = parameters.text("KeyLength").flatMap { InterchangeText.number($0) } ?? 16
    let hash: HashFunction
    // Some files write the name as text.
    let prf = parameters["PRF"]?.attributes["Algorithm"] ?? parameters.text("PRF") ?? MAC.hmacSHA1.rawValue
    if let function = MAC(rawValue: prf) {
      hash = function.hash
    } else {
      // RFC 8018 has other names.
      let names = ["hmac-sha1": HashFunction.sha1, "hmac-sha256": .sha256, "hmac-sha512": .sha512]
      guard let function = names.first(where: { InterchangeText.lowercased(prf).hasSuffix($0.key) })?.value
      else {
        throw .unsupportedEncryption(.pskc, reason: "its key derivation has an unknown PRF")
      }
      hash = function
    }
    do throws(CryptoFailure) {
      return SharedSecretBox(
        try password.withSecret { (password) throws(CryptoFailure) in
          try PBKDF2.derive(
            password: password, salt: salt, iterations: iterations, byteCount: min(max(count, 0), 64), hash)
        })
    } catch { throw .crypto(error) }
  }

  /// Returns a plain or encrypted secret; `nil` if there is neither.
  func secret(_ element: MarkupElement) throws(InterchangeFailure) -> SharedSecretBox? {
    var bytes: [UInt8]
    if let plain = element["PlainValue"] {
      guard let decoded = InterchangeText.base64(plain.text) else {
        throw .invalid("Secret", reason: "is not Base64")
      }
      bytes = decoded
    } else if let encrypted = element["EncryptedValue"] {
      bytes = try decrypted(encrypted, element)
    } else {
      return nil
    }
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    return SharedSecretBox(SecretBytes(copying: bytes))
  }

  /// Returns a plain or encrypted number; an encrypted one is big-endian.
  func number<Number: FixedWidthInteger>(
    _ element: MarkupElement?, _ name: String
  ) throws(InterchangeFailure) -> Number? {
    guard let element else { return nil }
    if let plain = element.text("PlainValue") {
      guard let number: Number = InterchangeText.number(plain) else {
        throw .invalid(name, reason: "is not a whole number in range")
      }
      return number
    }
    guard let encrypted = element["EncryptedValue"] else { return nil }
    let bytes = try decrypted(encrypted, element)
    guard (1...8).contains(bytes.count),
      let number = Number(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    else { throw .invalid(name, reason: "is not a whole number in range") }
    return number
  }

  /// Verifies the MAC over the ciphertext, and decrypts only then.
  private func decrypted(
    _ encrypted: MarkupElement, _ element: MarkupElement
  ) throws(InterchangeFailure) -> [UInt8] {
    guard let key else {
      throw .unsupportedEncryption(.pskc, reason: "it does not name the key that encrypts it")
    }
    guard let mac, let text = element.text("ValueMAC") else { throw .macMissing }
    guard let code = InterchangeText.base64(text) else { throw .invalid("ValueMAC", reason: "is not Base64") }
    let value = try Self.value(encrypted)
    guard mac.key.isValid(code, for: value) else {
      throw isPassword ? .wrongPassword(.pskc) : .macMismatch
    }
    return try Self.decrypt(value, encrypted, key, isPassword: isPassword)
  }

  /// Returns the initialization vector and the ciphertext.
  private static func value(_ element: MarkupElement) throws(InterchangeFailure) -> [UInt8] {
    guard let value = element.text("CipherData", "CipherValue").flatMap(InterchangeText.base64) else {
      throw .invalid("CipherValue", reason: "is missing or not Base64")
    }
    return value
  }

  private static func decrypt(
    _ value: [UInt8], _ element: MarkupElement, _ key: SharedSecretBox, isPassword: Bool
  ) throws(InterchangeFailure) -> [UInt8] {
    guard let cipher = Cipher(rawValue: element["EncryptionMethod"]?.attributes["Algorithm"] ?? "") else {
      throw .unsupportedEncryption(.pskc, reason: "its cipher is not AES-128 or AES-256 in CBC mode")
    }
    guard value.count >= 32, key.withSecret({ $0.byteCount }) == cipher.keyByteCount else {
      throw isPassword ? .wrongPassword(.pskc) : .macMismatch
    }
    do throws(CryptoFailure) {
      return try key.withSecret { (key) throws(CryptoFailure) in
        try AESCBC.decrypt(
          Array(value.dropFirst(16)), key: key, initializationVector: Array(value.prefix(16)))
      }
    } catch { throw isPassword ? .wrongPassword(.pskc) : .macMismatch }
  }
}
