import SignetCrypto
import SignetInterchange
import SignetOATH
import Testing

/// The examples of RFC 6030, whose XML is a code component (Simplified BSD), and rejected documents.
@Suite("PSKC (RFC 6030)")
struct PSKCTests {
  private static let preShared = PSKCEncryptionKey.preShared(
    SharedSecretBox(
      SecretBytes(copying: [
        0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x56, 0x78, 0x90, 0x12,
      ])))

  private func container(
    _ text: String, _ key: PSKCEncryptionKey? = nil
  ) throws -> PSKCContainer { try PSKCContainer(parsing: Array(text.utf8), key: key) }

  private func secret(_ key: PSKCKey?) -> [UInt8]? { key?.secret?.withSecret { $0.insecureCopy() } }

  /// Figure 5: an HOTP key, and the PIN that protects it.
  private static let plain = """
    <?xml version="1.0" encoding="UTF-8"?>
    <KeyContainer Version="1.0" Id="exampleID1" xmlns="urn:ietf:params:xml:ns:keyprov:pskc">
      <KeyPackage>
        <DeviceInfo><Manufacturer>Manufacturer</Manufacturer><SerialNo>987654321</SerialNo>
          <UserId>DC=example-bank,DC=net</UserId></DeviceInfo>
        <CryptoModuleInfo><Id>CM_ID_001</Id></CryptoModuleInfo>
        <Key Id="12345678" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp">
          <Issuer>Issuer</Issuer>
          <AlgorithmParameters><ResponseFormat Length="8" Encoding="DECIMAL"/></AlgorithmParameters>
          <Data>
            <Secret><PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=
            </PlainValue></Secret>
            <Counter><PlainValue>0</PlainValue></Counter>
          </Data>
          <UserId>UID=jsmith,DC=example-bank,DC=net</UserId>
          <Policy><StartDate>2006-05-01T00:00:00Z</StartDate><ExpiryDate>2006-05-31T00:00:00Z</ExpiryDate></Policy>
        </Key>
      </KeyPackage>
      <KeyPackage>
        <Key Id="123456781" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:pin">
          <Data><Secret><PlainValue>MTIzNA==</PlainValue></Secret></Data>
        </Key>
      </KeyPackage>
    </KeyContainer>
    """

  @Test("figures 3, 5 and 10: plain keys with device, user and policy; a PIN is no account")
  func plain() throws {
    let found = try container(Self.plain)
    #expect(found.id == "exampleID1" && found.keys.count == 2)
    let key = found.keys[0]
    #expect(secret(key) == Array("12345678901234567890".utf8) && key.counter == 0 && key.responseLength == 8)
    #expect(
      key.manufacturer == "Manufacturer" && key.serialNumber == "987654321" && key.cryptoModule == "CM_ID_001"
    )
    #expect(key.deviceUserID == "DC=example-bank,DC=net" && key.userID == "UID=jsmith,DC=example-bank,DC=net")
    #expect(key.startDate == "2006-05-01T00:00:00Z" && key.expiryDate == "2006-05-31T00:00:00Z")
    let imported = try found.imported()
    #expect(
      imported.skipped.map(\.reason) == [.unsupportedType("urn:ietf:params:xml:ns:keyprov:pskc:pin".suffix40)]
    )
    let account = try #require(imported.accounts.first)
    #expect(account.issuer == "Issuer" && account.name == "UID=jsmith,DC=example-bank,DC=net")
    // The account of a key, written again, is the same key.
    let again = try PSKCKey(account)
    #expect(again.serialNumber == key.serialNumber && again.userID == key.userID && again.friendlyName == nil)
    #expect(again.id == key.id && again.startDate == key.startDate && again.algorithm == key.algorithm)
  }

  @Test("figure 4: a key without a secret is no account")
  func reference() throws {
    let text = Self.plain.replacing(
      "<Secret><PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=\n        </PlainValue></Secret>", with: "")
    let found = try container(text)
    #expect(found.keys[0].secret == nil)
    #expect(try found.imported().skipped.count == 2)
  }

  /// Figure 6: under a pre-shared key.
  static let encrypted = """
    <?xml version="1.0" encoding="UTF-8"?>
    <KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc"
      xmlns:ds="http://www.w3.org/2000/09/xmldsig#" xmlns:xenc="http://www.w3.org/2001/04/xmlenc#">
      <EncryptionKey><ds:KeyName>Pre-shared-key</ds:KeyName></EncryptionKey>
      <MACMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1">
        <MACKey>
          <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
          <xenc:CipherData><xenc:CipherValue>
            ESIzRFVmd4iZABEiM0RVZgKn6WjLaTC1sbeBMSvIhRejN9vJa2BOlSaMrR7I5wSX
          </xenc:CipherValue></xenc:CipherData>
        </MACKey>
      </MACMethod>
      <KeyPackage>
        <DeviceInfo><Manufacturer>Manufacturer</Manufacturer><SerialNo>987654321</SerialNo></DeviceInfo>
        <Key Id="12345678" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp">
          <Issuer>Issuer</Issuer>
          <AlgorithmParameters><ResponseFormat Length="8" Encoding="DECIMAL"/></AlgorithmParameters>
          <Data>
            <Secret>
              <EncryptedValue>
                <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
                <xenc:CipherData><xenc:CipherValue>
                  AAECAwQFBgcICQoLDA0OD+cIHItlB3Wra1DUpxVvOx2lef1VmNPCMl8jwZqIUqGv
                </xenc:CipherValue></xenc:CipherData>
              </EncryptedValue>
              <ValueMAC>Su+NvtQfmvfJzF6bmQiJqoLRExc=
              </ValueMAC>
            </Secret>
            <Counter><PlainValue>0</PlainValue></Counter>
          </Data>
        </Key>
      </KeyPackage>
    </KeyContainer>
    """

  @Test("figure 6: AES-128-CBC and HMAC-SHA1 under a pre-shared key")
  func preSharedKey() throws {
    let found = try container(Self.encrypted, Self.preShared)
    #expect(secret(found.keys.first) == Array("12345678901234567890".utf8))
    #expect(throws: InterchangeFailure.self) { try container(Self.encrypted) }
    #expect(throws: InterchangeFailure.self) {
      try container(Self.encrypted, .password(SampleAccounts.box("x")))
    }
    let other = PSKCEncryptionKey.preShared(SharedSecretBox(SecretBytes.random(byteCount: 16)))
    #expect(throws: InterchangeFailure.macMismatch) { try container(Self.encrypted, other) }
    let short = PSKCEncryptionKey.preShared(SharedSecretBox(SecretBytes.random(byteCount: 32)))
    #expect(throws: InterchangeFailure.macMismatch) { try container(Self.encrypted, short) }
  }

  @Test("the MAC is verified before decryption; a value without a MAC is refused")
  func macFirst() throws {
    // A changed ciphertext with invalid padding too: the reported failure is the MAC.
    let changed = Self.encrypted.replacing("MCMl8jwZqIUqGv", with: "MCMl8jwZqIUqGw").replacing(
      "UqGv", with: "UqGw")
    #expect(throws: InterchangeFailure.macMismatch) { try container(changed, Self.preShared) }
    let otherCode = Self.encrypted.replacing("Su+NvtQ", with: "Su+NvtR")
    #expect(throws: InterchangeFailure.macMismatch) { try container(otherCode, Self.preShared) }
    let shortCode = Self.encrypted.replacing("Su+NvtQfmvfJzF6bmQiJqoLRExc=", with: "Su+NvtQfmvfJzF6bmQiJ")
    #expect(throws: InterchangeFailure.macMismatch) { try container(shortCode, Self.preShared) }
    let noCode = Self.encrypted.replacing("ValueMAC>", with: "OtherMAC>")
    #expect(throws: InterchangeFailure.macMissing) { try container(noCode, Self.preShared) }
    let noMethod = Self.encrypted.replacing("MACMethod", with: "OtherMethod")
    #expect(throws: InterchangeFailure.macMissing) { try container(noMethod, Self.preShared) }
  }

  @Test(
    "unsupported encryption is named",
    arguments: [
      ("xmlenc#aes128-cbc", "xmlenc#tripledes-cbc"), ("xmldsig#hmac-sha1", "xmldsig#hmac-md5"),
      ("ds:KeyName", "ds:X509Data"),
    ])
  func unsupported(found: String, other: String) throws {
    let text = Self.encrypted.replacing(found, with: other)
    do {
      _ = try container(text, Self.preShared)
      Issue.record("\(other) was read")
    } catch InterchangeFailure.unsupportedEncryption(.pskc, _) {}
  }

  /// Figure 7: under a password.
  private static let password = """
    <?xml version="1.0" encoding="UTF-8"?>
    <pskc:KeyContainer xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:xenc11="http://www.w3.org/2009/xmlenc11#"
      xmlns:pkcs5="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#"
      xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Version="1.0">
      <pskc:EncryptionKey>
        <xenc11:DerivedKey>
          <xenc11:KeyDerivationMethod Algorithm="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#pbkdf2">
            <pkcs5:PBKDF2-params>
              <Salt><Specified>Ej7/PEpyEpw=</Specified></Salt>
              <IterationCount>1000</IterationCount><KeyLength>16</KeyLength><PRF/>
            </pkcs5:PBKDF2-params>
          </xenc11:KeyDerivationMethod>
          <xenc:ReferenceList><xenc:DataReference URI="#ED"/></xenc:ReferenceList>
          <xenc11:MasterKeyName>My Password 1</xenc11:MasterKeyName>
        </xenc11:DerivedKey>
      </pskc:EncryptionKey>
      <pskc:MACMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1">
        <pskc:MACKey>
          <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
          <xenc:CipherData><xenc:CipherValue>
            2GTTnLwM3I4e5IO5FkufoOEiOhNj91fhKRQBtBJYluUDsPOLTfUvoU2dStyOwYZx
          </xenc:CipherValue></xenc:CipherData>
        </pskc:MACKey>
      </pskc:MACMethod>
      <pskc:KeyPackage>
        <pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp" Id="123456">
          <pskc:Issuer>Example-Issuer</pskc:Issuer>
          <pskc:AlgorithmParameters><pskc:ResponseFormat Length="8" Encoding="DECIMAL"/></pskc:AlgorithmParameters>
          <pskc:Data>
            <pskc:Secret>
              <pskc:EncryptedValue Id="ED">
                <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
                <xenc:CipherData><xenc:CipherValue>
                  oTvo+S22nsmS2Z/RtcoF8Hfh+jzMe0RkiafpoDpnoZTjPYZu6V+A4aEn032yCr4f
                </xenc:CipherValue></xenc:CipherData>
              </pskc:EncryptedValue>
              <pskc:ValueMAC>LP6xMvjtypbfT9PdkJhBZ+D6O4w=</pskc:ValueMAC>
            </pskc:Secret>
          </pskc:Data>
        </pskc:Key>
      </pskc:KeyPackage>
    </pskc:KeyContainer>
    """

  @Test("figure 7: a password and PBKDF2")
  func derivedKey() throws {
    let found = try container(Self.password, .password(SampleAccounts.box("qwerty")))
    #expect(secret(found.keys.first).map { Hex.encode($0) } == "3132333435363738393031323334353637383930")
    #expect(throws: InterchangeFailure.passwordNeeded(.pskc)) { try container(Self.password) }
    #expect(throws: InterchangeFailure.wrongPassword(.pskc)) {
      try container(Self.password, .password(SampleAccounts.box("qwertz")))
    }
    let costly = Self.password.replacing("<IterationCount>1000<", with: "<IterationCount>99999999<")
    #expect(throws: InterchangeFailure.self) {
      try container(costly, .password(SampleAccounts.box("qwerty")))
    }
  }

  @Test(
    "document types and entities are refused",
    arguments: [
      "<!DOCTYPE a [<!ENTITY b \"c\">]>", "<!DOCTYPE KeyContainer SYSTEM \"file:///etc/passwd\">",
      "<!ELEMENT a ANY>",
    ])
  func documentTypes(text: String) {
    #expect(throws: InterchangeFailure.xml(reason: "has a document type, which is not read")) {
      try container(Self.plain.replacing("<KeyContainer", with: "\(text)<KeyContainer"))
    }
  }

  @Test("other encodings, undeclared entities, depth and other roots are refused")
  func malformed() throws {
    #expect(throws: InterchangeFailure.xml(reason: "is in another encoding than UTF-8")) {
      try container(Self.plain.replacing("encoding=\"UTF-8\"", with: "encoding=\"UTF-7\""))
    }
    #expect(throws: InterchangeFailure.xml(reason: "is malformed")) {
      try container(Self.plain.replacing("Issuer</Issuer>", with: "&unknown;</Issuer>"))
    }
    let deep = String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)
    #expect(throws: InterchangeFailure.xml(reason: "is nested too deep")) { try container(deep) }
    // A prefix without a namespace is parsed, but this is no PSKC.
    let errors = "<a>" + String(repeating: "<x:b/>", count: 101) + "</a>"
    #expect(throws: InterchangeFailure.unknownFormat) { try container(errors) }
    #expect(throws: InterchangeFailure.unknownFormat) { try container("<KeyContainer Version=\"1.0\"/>") }
    #expect(throws: InterchangeFailure.notUTF8) { try PSKCContainer(parsing: [0xFF, 0xFE, 0x3C, 0]) }
    #expect(throws: InterchangeFailure.self) {
      try container(Self.plain.replacing("Version=\"1.0\"", with: "Version=\"2.0\""))
    }
  }

  @Test("texts with markup survive a round trip")
  func escapes() throws {
    let account = try SampleAccounts.account("A & <B>", "\"c\" ]]> 'd'")
    let bytes = try PSKCContainer(keys: [try PSKCKey(account)]).insecureBytes()
    #expect(try PSKCContainer(parsing: bytes).imported().accounts.facts == [account].facts)
  }

  @Test("a pre-shared key as text")
  func keyText() throws {
    func key(_ text: String) throws(InterchangeFailure) -> PSKCEncryptionKey {
      try PSKCEncryptionKey(hexadecimal: SecretBytes(copying: Array(text.utf8)))
    }
    let right = try key(" 12345678901234567890123456789012\r\n")
    #expect(secret(try container(Self.encrypted, right).keys.first) == Array("12345678901234567890".utf8))
    let upper = try key(String(repeating: "aB0", count: 20) + "9fFf")
    guard case .preShared(let box) = upper else {
      Issue.record("no pre-shared key")
      return
    }
    #expect(
      box.withSecret { Hex.encode($0.insecureCopy()) } == String(repeating: "ab0", count: 20) + "9fff")
    for text in [
      "1234567890123456789012345678901g", "123456789012345678901234567890123",
      "0x345678901234567890123456789012",
      "1234567890123456 7890123456789012",
    ] {
      #expect(throws: InterchangeFailure.invalid("key", reason: "is not written in hexadecimal digits")) {
        try key(text)
      }
    }
    for (text, count) in [("", 0), (" \n", 0), ("12", 1), (String(repeating: "12", count: 24), 24)] {
      #expect(throws: InterchangeFailure.crypto(.keyLength(count))) { try key(text) }
    }
  }

  @Test("plain text in an encrypted document is reported and not imported")
  func plainAmongEncrypted() throws {
    let start = try #require(Self.plain.firstRange(of: "<KeyPackage>")).lowerBound
    let end = try #require(Self.plain.firstRange(of: "</KeyPackage>")).upperBound
    let package = Self.plain[start..<end]
    let mixed = Self.encrypted.replacing("</KeyContainer>", with: package + "</KeyContainer>")
    let found = try container(mixed, Self.preShared)
    #expect(found.keys.map(\.isPlainAmongEncrypted) == [false, true])
    let imported = try found.imported()
    #expect(imported.accounts.count == 1)
    #expect(
      imported.skipped.map(\.reason) == [.notEncrypted] && imported.skipped.map(\.title) == ["987654321"])
    // A key with both values does not count as encrypted.
    let both = Self.encrypted.replacing(
      "<EncryptedValue>", with: "<PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</PlainValue><EncryptedValue>")
    #expect(try container(both, Self.preShared).imported().skipped.map(\.reason) == [.notEncrypted])
  }

  @Test("a pre-shared key of another length is refused")
  func keyLength() throws {
    let key = PSKCEncryptionKey.preShared(SharedSecretBox(SecretBytes.random(byteCount: 20)))
    #expect(throws: InterchangeFailure.crypto(.keyLength(20))) {
      try PSKCContainer(keys: []).insecureBytes(encryptedUnder: key)
    }
  }
}

extension String {
  fileprivate var suffix40: String { String(suffix(40)) }
}
