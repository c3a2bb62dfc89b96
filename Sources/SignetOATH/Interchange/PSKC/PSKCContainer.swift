public import SignetCrypto

/// What decrypts a PSKC document, or encrypts it.
public enum PSKCEncryptionKey: Sendable {
  /// A key of 16 or 32 bytes that both sides have.
  case preShared(SharedSecretBox)
  /// A password, UTF-8 as typed; the key is derived from it with PBKDF2.
  case password(SharedSecretBox)

  /// A pre-shared key from a text.
  ///
  /// - Parameter text: 32 or 64 hexadecimal digits in UTF-8; white space around them is dropped. The caller wipes it.
  /// - Throws: ``InterchangeFailure``: `invalid`, or `crypto` for a key of another length.
  public init(hexadecimal text: [UInt8]) throws(InterchangeFailure) {
    let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    let digits = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    var bytes: [UInt8]
    do throws(EncodingFailure) { bytes = try Hex.decode(Array(digits)) } catch {
      throw .invalid("key", reason: "is not written in hexadecimal digits")
    }
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    guard [16, 32].contains(bytes.count) else { throw .crypto(.keyLength(bytes.count)) }
    self = .preShared(SharedSecretBox(SecretBytes(copying: bytes)))
  }
}

/// A PSKC document (RFC 6030): keys of tokens, plain or encrypted with AES in CBC mode and authenticated.
///
/// The authentication code of a value is checked before the value is decrypted; a value that has none is refused.
public struct PSKCContainer: Sendable {
  /// The namespace of the document.
  static let namespace = "urn:ietf:params:xml:ns:keyprov:pskc"

  /// The name of the document.
  public var id: String?
  /// The keys, in the order of the document.
  public var keys: [PSKCKey]

  /// A document with keys.
  ///
  /// - Parameters:
  ///   - id: Its name.
  ///   - keys: The keys.
  public init(id: String? = nil, keys: [PSKCKey]) { (self.id, self.keys) = (id, keys) }

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - bytes: XML in UTF-8, at most 16 MiB.
  ///   - key: What decrypts it; not needed for a plain one.
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

  /// The accounts of the keys that have codes.
  public var imported: ImportedAccounts {
    var imported = ImportedAccounts(.pskc)
    for key in keys {
      imported.read(title: key.description) { () throws(InterchangeFailure) in try OTPAccount(key) }
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
    (issuer, friendlyName, userID) = (key.text("Issuer"), key.text("FriendlyName"), key.text("UserId"))
    if let device = package["DeviceInfo"] {
      (manufacturer, serialNumber) = (device.text("Manufacturer"), device.text("SerialNo"))
      (model, deviceUserID) = (device.text("Model"), device.text("UserId"))
    }
    cryptoModule = package.text("CryptoModuleInfo", "Id")
    suite = key.text("AlgorithmParameters", "Suite")
    if let response = key.element("AlgorithmParameters", "ResponseFormat") {
      responseLength = response.attributes["Length"].flatMap { InterchangeText.number($0) }
      responseEncoding = response.attributes["Encoding"]
      let check = response.attributes["CheckDigits"] ?? response.attributes["CheckDigit"]
      hasCheckDigits = ["true", "1"].contains(InterchangeText.lowercased(check ?? ""))
    }
    (startDate, expiryDate) = (key.text("Policy", "StartDate"), key.text("Policy", "ExpiryDate"))
    guard let data = key["Data"] else { return }
    if let value = data["Secret"] { secret = try decryption.secret(value) }
    counter = try decryption.number(data["Counter"], "Counter")
    time = try decryption.number(data["Time"], "Time")
    timeInterval = try decryption.number(data["TimeInterval"], "TimeInterval")
    timeDrift = try decryption.number(data["TimeDrift"], "TimeDrift")
  }
}
