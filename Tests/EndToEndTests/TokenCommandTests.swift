import Foundation
import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// `signet-server token …`: tokens of other vendors, through the command line alone.
@Suite(.timeLimit(.minutes(10)), .serialized) struct TokenCommandTests {
  /// The codes of RFC 4226 appendix D, whose secret is `12345678901234567890`.
  private static let codes = [
    "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
  ]
  private static let csv = """
    serial,kind,secret-hex,digits,user
    HT-1, hotp, 3132333435363738393031323334353637383930, 6, alice
    HT-2, hotp, 3132333435363738393031323334353637383930, 6,

    """

  /// RFC 6030 section 6.1.
  private static let encrypted = """
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

  @Test func wholeLife() async throws {
    let server = try await RunningServer.start()
    try await server.addUser("alice")
    let key = "\(server.folder.path)/shop.key"
    #expect(try await server.run("key", "create", "shop", "--output", key).status == 0)
    let file = "\(server.folder.path)/tokens.csv"
    try Self.csv.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try await server.run("token", "import", file).output == "imported 2 tokens\n")
    #expect(
      try await server.run("token", "import", file).output
        == "imported 0 tokens; 2 were known and stay as before\n")
    func validate(_ code: String) async throws -> String {
      try await server.run("otp", "validate", "alice", code, "--key-file", key, "--client", "192.0.2.1")
        .output
    }
    #expect(try await validate(Self.codes[0]) == "not valid\n")
    let wrong = try await server.run("token", "verify", "HT-1", "000000")
    #expect(
      wrong.status == 1 && wrong.output.hasPrefix("not verified: wrong or expired code, or no such token"))
    #expect(try await server.run("token", "verify", "HT-1", Self.codes[0]).output == "verified\n")
    #expect(try await validate(Self.codes[1]) == "valid\n")
    #expect(try await validate(Self.codes[1]) == "not valid\n")
    #expect(
      try await server.run("otp", "resync", "alice", Self.codes[3], Self.codes[4], "--key-file", key).output
        == "resynchronised\n")
    for _ in 1...3 { #expect(try await validate("000000") == "not valid\n") }
    #expect(try await validate(Self.codes[5]).hasPrefix("not valid: try again in "))
    #expect(try await server.run("user", "unlock", "alice").status == 0)
    #expect(try await validate(Self.codes[5]) == "valid\n")

    #expect(try await server.run("token", "unassign", "HT-1").output == "took back HT-1\n")
    #expect(try await validate(Self.codes[6]) == "not valid\n")
    #expect(try await server.run("token", "assign", "HT-2", "alice").output == "assigned HT-2\n")
    // The user is unknown, not the token.
    let nobody = try await server.run("token", "assign", "HT-2", "nobody")
    #expect(nobody.isRefusal(67, "There is no user \"nobody\""), nobody.summary)
    #expect(!nobody.errorOutput.contains("token list"), nobody.summary)
    let noToken = try await server.run("token", "assign", "HT-9", "alice")
    #expect(noToken.isRefusal(67, "'signet-server token list' shows what there is"), noToken.summary)
    let mistyped = try await server.run("token", "list", "--user", "alcie")
    #expect(mistyped.isRefusal(67, "There is no user \"alcie\""), mistyped.summary)
    #expect(
      try await server.run("token", "resync", "HT-2", Self.codes[8], Self.codes[9]).output
        == "resynchronised\n")
    #expect(try await server.run("token", "disable", "HT-2").output == "disabled HT-2\n")
    #expect(try await server.run("token", "enable", "HT-2").output == "enabled HT-2\n")
    let listed = try await server.run("token", "list").output
    #expect(listed.contains("HT-1") && listed.contains("pending") && listed.contains("alice"))
    let alices = try await server.json("token", "list", "--user", "alice").array("tokens")
    guard alices.count == 1, case .object(let token) = alices[0] else {
      Issue.record("not one token: \(alices)")
      return
    }
    #expect(try token.string("serial") == "HT-2")
    #expect(try token.integer("counter") == 10)
    #expect(try await server.run("token", "remove", "HT-2").output == "removed HT-2\n")
    #expect(try await server.run("token", "remove", "HT-2").status == 67)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test("a token whose row was altered is listed with the others")
  func listsAlteredTokens() async throws {
    let server = try await RunningServer.start()
    try await server.addUser("alice")
    let file = try server.write(Self.csv, to: "tokens.csv")
    #expect(try await server.run("token", "import", file).status == 0)
    // Digits 0 and an empty algorithm show a row that the server did not write.
    try Database(path: "\(server.data)/signet.sqlite", mode: .readWrite).execute(
      "UPDATE credentials SET kind = 'x' WHERE serial = 'HT-1'")
    let listed = try await server.run("token", "list")
    #expect(listed.status == 0 && listed.output.contains("altered"), listed.summary)
    #expect(listed.output.contains("HT-1") && listed.output.contains("HT-2"), listed.summary)
    #expect(try await server.json("token", "list").array("tokens").count == 2)
    await server.stop()
  }

  @Test func readsFiles() async throws {
    let server = try await RunningServer.start()
    let file = "\(server.folder.path)/tokens"
    func imported(_ text: String) async throws -> ServerCommand.Result {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
      return try await server.run("token", "import", file)
    }
    let secret = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA"
    let json = try await imported(
      "{\"tokens\":[{\"serial\":\"J1\",\"kind\":\"totp\",\"secret\":\"\(secret)\",\"algorithm\":\"SHA256\",\"period\":60}]}"
    )
    #expect(json.output == "imported 1 token\n", "\(json.errorOutput)")
    let base32 = try await imported("kind,serial,secret-base32\ntotp,B1,GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    #expect(base32.output == "imported 1 token\n", "\(base32.errorOutput)")
    let pskc = """
      <?xml version="1.0" encoding="UTF-8"?>
      <KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc"><KeyPackage>
      <DeviceInfo><Manufacturer>Example</Manufacturer><SerialNo>P1</SerialNo></DeviceInfo>
      <Key Id="k1" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp"><Issuer>Example</Issuer>
      <AlgorithmParameters><ResponseFormat Length="8" Encoding="DECIMAL"/></AlgorithmParameters>
      <Data><Secret><PlainValue>\(secret)=</PlainValue></Secret><Counter><PlainValue>5</PlainValue></Counter></Data>
      </Key></KeyPackage></KeyContainer>
      """
    let document = try await imported(pskc)
    #expect(document.output == "imported 1 token\n", "\(document.errorOutput)")
    // The rejection names the unsupported feature.
    let digit = try await imported(
      pskc.replacing("\"DECIMAL\"/>", with: "\"DECIMAL\" CheckDigits=\"true\"/>"))
    #expect(digit.isRefusal(65, "the token P1 has a check digit"), digit.summary)
    let challenge = try await imported(
      pskc.replacing("pskc:hotp", with: "pskc:ocra").replacing(
        "<ResponseFormat", with: "<Suite>OCRA-1:HOTP-SHA1-8:QN08</Suite><ResponseFormat"))
    #expect(challenge.isRefusal(65, "the token P1 answers challenges"), challenge.summary)
    // More than fit into one request, in the order of the file.
    let many = (0..<250).map { "M\($0),hotp,\(secret)" }.joined(separator: "\r\n")
    #expect(try await imported("serial,kind,secret\r\n\(many)").output == "imported 250 tokens\n")
    #expect(try await server.json("token", "list").array("tokens").count == 253)
    // An error in the second request prevents the import of the whole file.
    let right = (0..<150).map { "N\($0),hotp,\(secret)" }.joined(separator: "\n")
    let wrongLast = "\(right)\nN150,motp,\(secret)"
    for (text, word) in [
      ("serial,kind,secret\n\(wrongLast)", "must be \"hotp\" or \"totp\""), ("", "no token"),
      ("{}", "tokens"),
      ("{\"tokens\":[]}", "no token"), ("{", "not a file of tokens"),
      ("serial,kind\ns,hotp", "secret"), ("serial,kind,secret,color\n", "its field 4 is not one of them"),
      ("\(secret),hotp,X1\n", "its field 1 is not one of them"),
      ("serial,serial,kind,secret\n", "once each"), ("serial,kind,secret\ns,hotp", "line 2"),
      ("serial,kind,secret-hex\ns,hotp,xyz", "not hex"),
      ("serial,kind,secret-base32\ns,hotp,0189", "not base32"),
      ("serial,kind,secret,digits\ns,hotp,\(secret),six", "\"digits\""),
      ("serial,kind,secret\ns,motp,\(secret)", "must be \"hotp\" or"),
      ("serial,kind,secret\ns,hotp,AAAA", "16 to 128"),
      ("serial,kind,secret,user\ns,hotp,\(secret),nobody", "nobody"),
      // Each message has its line, whether the command or the server rejects it.
      ("serial,kind,secret\n\(wrongLast)", "line 152: \"kind\""),
      ("serial,kind,secret\n\(right)\nN150,hotp,AAAA", "line 152: The token N150 has a secret of 3 bytes"),
      ("serial,kind,secret,user\n\n\ns,hotp,\(secret),nobody", "line 4: There is no user \"nobody\""),
      ("{\"tokens\":[{\"serial\":\"s\"}]}", "token 1: "),
      (
        "serial,kind,secret\nX1,hotp,\(secret)\nX2,hotp,\(secret)\nX1,totp,\(secret)",
        "line 2 and line 4 have the same serial number X1"
      ),
    ] {
      let refused = try await imported(text)
      #expect(refused.status != 0, "\(text)")
      #expect(refused.errorOutput.contains(word), "\(text): \(refused.errorOutput)")
      #expect(!refused.errorOutput.contains(secret))
    }
    #expect(try await server.run("token", "import", "\(file)-none").status == 66)
    // An encrypted document without a key, with a wrong key, and with the right one.
    try Self.encrypted.write(toFile: file, atomically: true, encoding: .utf8)
    let key = "\(server.folder.path)/transport.key"
    #expect(try await server.run("token", "import", file).errorOutput.contains("--transport-key"))
    try String(repeating: "00", count: 16).write(toFile: key, atomically: true, encoding: .utf8)
    #expect(try await server.run("token", "import", file, "--transport-key", key).status == 77)
    try "12345678901234567890123456789012\n".write(toFile: key, atomically: true, encoding: .utf8)
    let decrypted = try await server.run("token", "import", file, "--transport-key", key)
    #expect(decrypted.output == "imported 1 token\n", "\(decrypted.errorOutput)")
    #expect(try await server.run("token", "remove", "987654321").status == 0)
    #expect(try await server.json("token", "list").array("tokens").count == 253)
    await server.stop()
  }
}
