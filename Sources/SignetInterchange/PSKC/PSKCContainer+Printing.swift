public import SignetCrypto

extension PSKCContainer {
  /// Writes the document; unless it is encrypted, it contains secrets in bytes that the caller has to wipe.
  ///
  /// Secrets are encrypted with AES-256 in CBC mode, or AES-128 under a pre-shared key of 16 bytes. They are authenticated
  /// with HMAC-SHA256 under a separate key. A password is converted to a key by PBKDF2 with HMAC-SHA256 and 600,000
  /// iterations.
  ///
  /// - Parameters:
  ///   - key: The key that encrypts the document; `nil` for a plain document.
  ///   - random: The source of salts and initialization vectors.
  /// - Returns: XML in UTF-8.
  /// - Throws: ``InterchangeFailure/crypto(_:)``, for example for a pre-shared key that does not have 16 or 32 bytes.
  public func insecureBytes(
    encryptedUnder key: PSKCEncryptionKey? = nil, random: some RandomSource = SystemRandomSource()
  ) throws(InterchangeFailure) -> [UInt8] {
    var xml = MarkupWriter()
    let encryption = try key.map { (key) throws(InterchangeFailure) in try PSKCEncryption(key, random) }
    var attributes = [("Version", "1.0"), ("xmlns", Self.namespace)]
    if let id { attributes.append(("Id", id)) }
    if encryption != nil {
      attributes += [
        ("xmlns:ds", "http://www.w3.org/2000/09/xmldsig#"),
        ("xmlns:xenc", "http://www.w3.org/2001/04/xmlenc#"),
        ("xmlns:xenc11", "http://www.w3.org/2009/xmlenc11#"),
        ("xmlns:pkcs5", "http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#"),
      ]
    }
    try xml.element("KeyContainer", attributes) { (xml) throws(InterchangeFailure) in
      if let encryption { try encryption.writeHeader(&xml, random) }
      for (index, key) in keys.enumerated() {
        try xml.element("KeyPackage") { (xml) throws(InterchangeFailure) in
          try key.write(&xml, number: index + 1, encryption, random)
        }
      }
    }
    return Array(xml.text.utf8)
  }
}

private struct PSKCEncryption {
  static let iterations = 600_000
  static let saltByteCount = 16

  let key: SharedSecretBox
  let macKey = SharedSecretBox(SecretBytes.random(byteCount: 32))
  let cipher: PSKCDecryption.Cipher
  /// The salt of the password; `nil` for a pre-shared key.
  let salt: [UInt8]?

  init(_ encryptionKey: PSKCEncryptionKey, _ random: some RandomSource) throws(InterchangeFailure) {
    switch encryptionKey {
    case .preShared(let secret):
      let count = secret.withSecret { $0.byteCount }
      guard let cipher = PSKCDecryption.Cipher.allCases.first(where: { $0.keyByteCount == count }) else {
        throw .crypto(.keyLength(count))
      }
      key = secret
      self.cipher = cipher
      salt = nil
    case .password(let password):
      let salt = random.bytes(Self.saltByteCount)
      key = SharedSecretBox(
        try PasswordEncryption.key(password, salt: salt, iterations: Self.iterations, .sha256))
      (cipher, self.salt) = (.aes256CBC, salt)
    }
  }

  func writeHeader(_ xml: inout MarkupWriter, _ random: some RandomSource) throws(InterchangeFailure) {
    xml.element("EncryptionKey") { xml in
      guard let salt else { return xml.text("ds:KeyName", "Pre-shared key") }
      xml.element("xenc11:DerivedKey") { xml in
        let method = "http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#pbkdf2"
        xml.element("xenc11:KeyDerivationMethod", [("Algorithm", method)]) { xml in
          xml.element("pkcs5:PBKDF2-params") { xml in
            // The parameters are in no namespace (PKCS #5 v2.0 amendment 1).
            xml.element("Salt", [("xmlns", "")]) { $0.text("Specified", Base64.encode(salt)) }
            xml.text("IterationCount", String(Self.iterations), [("xmlns", "")])
            xml.text("KeyLength", String(cipher.keyByteCount), [("xmlns", "")])
            xml.element("PRF", [("xmlns", ""), ("Algorithm", PSKCDecryption.MAC.hmacSHA256.rawValue)]) { _ in
            }
          }
        }
      }
    }
    let wrapped = try macKey.withSecret { (secret) throws(InterchangeFailure) in try encrypt(secret, random) }
    xml.element("MACMethod", [("Algorithm", PSKCDecryption.MAC.hmacSHA256.rawValue)]) { xml in
      xml.element("MACKey") { writeCipher(&$0, wrapped) }
    }
  }

  func write(
    _ secret: SharedSecretBox, _ xml: inout MarkupWriter, _ random: some RandomSource
  ) throws(InterchangeFailure) {
    let value = try secret.withSecret { (secret) throws(InterchangeFailure) in try encrypt(secret, random) }
    xml.element("EncryptedValue") { writeCipher(&$0, value) }
    let code = macKey.withSecret { HMACKey($0, .sha256) }.authenticationCode(for: value)
    xml.text("ValueMAC", Base64.encode(code))
  }

  private func writeCipher(_ xml: inout MarkupWriter, _ value: [UInt8]) {
    xml.element("xenc:EncryptionMethod", [("Algorithm", cipher.rawValue)]) { _ in }
    xml.element("xenc:CipherData") { $0.text("xenc:CipherValue", Base64.encode(value)) }
  }

  private func encrypt(
    _ secret: borrowing SecretBytes, _ random: some RandomSource
  ) throws(InterchangeFailure) -> [UInt8] {
    let vector = random.bytes(16)
    var plaintext = secret.insecureCopy()
    defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
    do throws(CryptoFailure) {
      return vector
        + (try key.withSecret { (key) throws(CryptoFailure) in
          try AESCBC.encrypt(plaintext, key: key, initializationVector: vector)
        })
    } catch { throw .crypto(error) }
  }
}

extension PSKCKey {
  fileprivate func write(
    _ xml: inout MarkupWriter, number: Int, _ encryption: PSKCEncryption?, _ random: some RandomSource
  ) throws(InterchangeFailure) {
    if [manufacturer, serialNumber, model, deviceUserID].contains(where: { $0 != nil }) {
      xml.element("DeviceInfo") { xml in
        xml.text("Manufacturer", manufacturer)
        xml.text("SerialNo", serialNumber)
        xml.text("Model", model)
        xml.text("UserId", deviceUserID)
      }
    }
    if let cryptoModule { xml.element("CryptoModuleInfo") { $0.text("Id", cryptoModule) } }
    try xml.element("Key", [("Id", id ?? String(number)), ("Algorithm", algorithm)]) {
      (xml) throws(InterchangeFailure) in
      xml.text("Issuer", issuer)
      writeParameters(&xml)
      xml.text("FriendlyName", friendlyName)
      try xml.element("Data") { (xml) throws(InterchangeFailure) in
        if let secret { try write(secret, &xml, encryption, random) }
        for (name, number) in [
          ("Counter", counter.map { String($0) }), ("Time", time.map { String($0) }),
          ("TimeInterval", timeInterval.map { String($0) }), ("TimeDrift", timeDrift.map { String($0) }),
        ] {
          if let number { xml.element(name) { $0.text("PlainValue", number) } }
        }
      }
      xml.text("UserId", userID)
      if startDate != nil || expiryDate != nil {
        xml.element("Policy") { xml in
          xml.text("StartDate", startDate)
          xml.text("ExpiryDate", expiryDate)
        }
      }
    }
  }

  private func writeParameters(_ xml: inout MarkupWriter) {
    guard suite != nil || responseLength != nil || challengeEncoding != nil else { return }
    xml.element("AlgorithmParameters") { xml in
      xml.text("Suite", suite)
      writeChallenge(&xml)
      guard let responseLength else { return }
      var attributes = [("Length", String(responseLength)), ("Encoding", responseEncoding ?? "DECIMAL")]
      if hasCheckDigits { attributes.append(("CheckDigits", "true")) }
      xml.element("ResponseFormat", attributes) { _ in }
    }
  }

  private func writeChallenge(_ xml: inout MarkupWriter) {
    guard let challengeEncoding else { return }
    var attributes = [("Encoding", challengeEncoding)]
    if let challengeMinimum { attributes.append(("Min", String(challengeMinimum))) }
    if let challengeMaximum { attributes.append(("Max", String(challengeMaximum))) }
    if hasChallengeCheckDigits { attributes.append(("CheckDigits", "true")) }
    xml.element("ChallengeFormat", attributes) { _ in }
  }

  private func write(
    _ secret: SharedSecretBox, _ xml: inout MarkupWriter, _ encryption: PSKCEncryption?,
    _ random: some RandomSource
  ) throws(InterchangeFailure) {
    try xml.element("Secret") { (xml) throws(InterchangeFailure) in
      if let encryption { return try encryption.write(secret, &xml, random) }
      xml.text("PlainValue", secret.withSecret { $0.withTemporaryArray { Base64.encode($0) } })
    }
  }
}
