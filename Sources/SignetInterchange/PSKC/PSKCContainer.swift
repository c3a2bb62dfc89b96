public import SignetCrypto
import SignetSystem

/// The key that decrypts or encrypts a PSKC document.
public enum PSKCEncryptionKey: Sendable {
  /// A key of 16 or 32 bytes that both sides share.
  case preShared(SharedSecretBox)
  /// A password, UTF-8 as typed; the key is derived from it with PBKDF2.
  case password(SharedSecretBox)

  /// Parses a pre-shared key.
  ///
  /// - Parameter text: 32 or 64 hexadecimal digits in UTF-8; white space around them is dropped. The text is not copied.
  /// - Throws: ``InterchangeFailure``: `invalid` for other characters, `crypto` for a key of another length.
  public init(hexadecimal text: borrowing SecretBytes) throws(InterchangeFailure) {
    let key = try text.withUInt8Span { (text) throws(InterchangeFailure) -> SharedSecretBox in
      var digits = text.indices
      while let first = digits.first, Self.isSpace(text[first]) { digits.removeFirst() }
      while let last = digits.last, Self.isSpace(text[last]) { digits.removeLast() }
      guard digits.allSatisfy({ Self.value(text[$0]) != nil }), digits.count.isMultiple(of: 2) else {
        throw .invalid("key", reason: "is not written in hexadecimal digits")
      }
      let count = digits.count / 2
      guard [16, 32].contains(count) else { throw .crypto(.keyLength(count)) }
      return SharedSecretBox(
        SecretBytes(byteCount: count) { output in
          for index in stride(from: digits.lowerBound, to: digits.upperBound, by: 2) {
            output.append((Self.value(text[index]) ?? 0) << 4 | (Self.value(text[index + 1]) ?? 0))
          }
        })
    }
    self = .preShared(key)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// A PSKC document (RFC 6030): token keys, plain or encrypted with AES in CBC mode and authenticated.
///
/// The MAC of a value is verified before the value is decrypted; an encrypted value without a MAC is rejected.
public struct PSKCContainer: Sendable {
  static let namespace = "urn:ietf:params:xml:ns:keyprov:pskc"

  /// The id of the document.
  public var id: String?
  /// The keys, in the order of the document.
  public var keys: [PSKCKey]

  /// Creates a document.
  ///
  /// - Parameters:
  ///   - id: The id of the document.
  ///   - keys: The keys.
  public init(id: String? = nil, keys: [PSKCKey]) { (self.id, self.keys) = (id, keys) }

  /// Parses a document.
  ///
  /// - Parameters:
  ///   - bytes: XML in UTF-8, at most 16 MiB.
  ///   - key: The key that decrypts the document; not needed for a plain one.
  /// - Throws: ``InterchangeFailure``: `passwordNeeded`, `wrongPassword`, `macMismatch`, `macMissing`, `xml`.
  public init(parsing bytes: [UInt8], key: PSKCEncryptionKey? = nil) throws(InterchangeFailure) {
    guard bytes.count <= AccountFile.maximumByteCount else {
      throw .tooLarge("file", limit: AccountFile.maximumByteCount)
    }
    let root = try MarkupReader.read(bytes)
    guard root.name == "KeyContainer", root.namespace == Self.namespace else { throw .unknownFormat }
    guard let version = root.attributes["Version"], version.hasPrefix("1.") || version == "1" else {
      throw .invalid("Version", reason: "of the document is not 1.0")
    }
    let decryption = try PSKCDecryption(root, key)
    id = root.attributes["Id"]
    keys = []
    for package in root.children where package.name == "KeyPackage" {
      for key in package.children where key.name == "Key" {
        keys.append(try PSKCKey(key, in: package, decryption))
      }
    }
  }

  /// Converts the keys that make codes to accounts.
  ///
  /// - Returns: The accounts and the skipped keys, such as those in plain text in an encrypted document.
  /// - Throws: ``InterchangeFailure/tooManyAccounts(limit:)``.
  public func imported() throws(InterchangeFailure) -> ImportedAccounts {
    var imported = ImportedAccounts(.pskc)
    for key in keys {
      try imported.read(title: key.description) { () throws(InterchangeFailure) in try OTPAccount(key) }
    }
    return imported
  }
}

extension PSKCKey {
  fileprivate init(
    _ key: MarkupElement, in package: MarkupElement, _ decryption: PSKCDecryption
  ) throws(InterchangeFailure) {
    self.init(algorithm: key.attributes["Algorithm"] ?? "", secret: nil)
    id = key.attributes["Id"]
    issuer = key.text("Issuer")
    friendlyName = key.text("FriendlyName")
    userID = key.text("UserId")
    if let device = package["DeviceInfo"] {
      manufacturer = device.text("Manufacturer")
      serialNumber = device.text("SerialNo")
      model = device.text("Model")
      deviceUserID = device.text("UserId")
    }
    cryptoModule = package.text("CryptoModuleInfo", "Id")
    suite = key.text("AlgorithmParameters", "Suite")
    if let response = key.element("AlgorithmParameters", "ResponseFormat") {
      responseLength = response.attributes["Length"].flatMap { InterchangeText.number($0) }
      responseEncoding = response.attributes["Encoding"]
      hasCheckDigits = Self.hasCheckDigits(response)
    }
    if let challenge = key.element("AlgorithmParameters", "ChallengeFormat") {
      challengeEncoding = challenge.attributes["Encoding"]
      challengeMinimum = challenge.attributes["Min"].flatMap { InterchangeText.number($0) }
      challengeMaximum = challenge.attributes["Max"].flatMap { InterchangeText.number($0) }
      hasChallengeCheckDigits = Self.hasCheckDigits(challenge)
    }
    (startDate, expiryDate) = (key.text("Policy", "StartDate"), key.text("Policy", "ExpiryDate"))
    guard let data = key["Data"] else { return }
    if let value = data["Secret"] {
      secret = try decryption.secret(value)
      isPlainAmongEncrypted = decryption.isEncrypted && value["PlainValue"] != nil
    }
    counter = try decryption.number(data["Counter"], "Counter")
    time = try decryption.number(data["Time"], "Time")
    timeInterval = try decryption.number(data["TimeInterval"], "TimeInterval")
    timeDrift = try decryption.number(data["TimeDrift"], "TimeDrift")
  }

  private static func hasCheckDigits(_ format: MarkupElement) -> Bool {
    let check = format.attributes["CheckDigits"] ?? format.attributes["CheckDigit"]
    return ["true", "1"].contains(InterchangeText.lowercased((check ?? "").trimmed))
  }
}
