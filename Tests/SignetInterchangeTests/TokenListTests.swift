import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import Testing

/// An operator's lists of tokens for a server (``EndToEndTests/TokenCommandTests`` has files of all forms).
@Suite("Lists of tokens") struct TokenListTests {
  private static let secret = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA"

  private func tokens(_ text: String) throws(TokenListFailure) -> [JSONObject] {
    try TokenList(parsing: Array(text.utf8)).tokens
  }

  @Test("columns are found by their names in any order and case; empty fields are left out")
  func csv() throws {
    let list = try tokens(
      "Secret-Hex, serial ,KIND,digits,user\r\n31323334,S1,totp,8,\n\n3536,S2,hotp,,al\n")
    #expect(
      list == [
        [
          "secret": .string(Base64URL.encode(Array("1234".utf8))), "serial": "S1", "kind": "totp",
          "digits": 8,
        ],
        [
          "secret": .string(Base64URL.encode(Array("56".utf8))), "serial": "S2", "kind": "hotp", "user": "al",
        ],
      ])
    #expect(try tokens("serial,kind,secret-base32\nB,totp,GEZDGNBV")[0]["secret"] == "MTIzNDU")
    #expect(try tokens("serial,kind,secret,start\nB,totp,\(Self.secret),-1")[0]["start"] == -1)
  }

  @Test("a quoted field may have commas, line breaks and quotation marks (RFC 4180)")
  func quotes() throws {
    let list = try TokenList(
      parsing: Array(
        "\"serial\",\"kind\",\"secret\",\"user\"\r\n\"a,\"\"b\"\"\", \"hotp\" ,AA,\"x\r\ny\"\r\n\"\"\"\",hotp,AB,\"\"\r\n"
          .utf8))
    #expect(
      list.tokens == [
        ["serial": "a,\"b\"", "kind": "hotp", "secret": "AA", "user": "x\r\ny"],
        ["serial": "\"", "kind": "hotp", "secret": "AB"],
      ])
    #expect(list.tokens.indices.map { list.location(of: $0) } == ["line 2", "line 4"])
  }

  @Test("JSON is imported unchanged") func json() throws {
    #expect(try tokens(#" {"tokens":[{"serial":"J","x":[1]}],"more":0}"#) == [["serial": "J", "x": [1]]])
  }

  @Test(
    "an invalid list is refused with the line or token",
    arguments: [
      ("", TokenListFailure.empty), ("serial,kind,secret\n", .empty), (#"{"tokens":[]}"#, .empty),
      ("{", .json(.unexpectedEnd(offset: 1))), ("{}", .json(.missingMember("tokens"))),
      (#"{"tokens":[1]}"#, .notObjects),
      ("serial,kind\ns,hotp", .missingColumns), ("kind,secret\nhotp,AA", .missingColumns),
      ("serial,kind,secret,secret-hex\n", .missingColumns), ("serial,serial,kind,secret\n", .missingColumns),
      ("serial,kind,secret,color\n", .unknownColumn(4)),
      ("serial,kind,secret\ns,hotp", .line(2, reason: "2 fields, and the first line names 3")),
      (
        "serial,kind,secret\ns,hotp,AA\ns,hotp,AA,1", .line(3, reason: "4 fields, and the first line names 3")
      ),
      ("serial,kind,secret-hex\ns,hotp,xyz", .line(2, reason: "the secret is not hex")),
      ("serial,kind,secret-base32\ns,hotp,0189", .line(2, reason: "the secret is not base32")),
      ("serial,kind,secret,digits\ns,hotp,AA,six", .line(2, reason: "\"digits\" is not a number")),
      (
        "serial,kind,secret,start\ns,hotp,AA,9223372036854775808",
        .line(2, reason: "\"start\" is not a number")
      ),
      (
        "serial,kind,secret\n\ns\"s\",hotp,AA",
        .line(3, reason: "a quotation mark is inside a field that does not begin with one")
      ),
      ("serial,kind,secret\n\"s\"s,hotp,AA", .line(2, reason: "text follows a quoted field")),
      ("serial,kind,secret\n\"s\" \"s\",hotp,AA", .line(2, reason: "text follows a quoted field")),
      ("serial,kind,secret\n\"s,hotp,AA\n\nt", .line(2, reason: "a quoted field does not end")),
      ("serial,kind,secret\ns,hotp,\"", .line(2, reason: "a quoted field does not end")),
      ("serial,kind,secret\ns,hotp,\"AA\"\"", .line(2, reason: "a quoted field does not end")),
      // Empty lines are counted as in an editor.
      (
        "\r\nserial,kind,secret\r\n\r\n\r\ns,hotp",
        .line(5, reason: "2 fields, and the first line names 3")
      ),
      (
        "serial,kind,secret\ns,hotp,AA\n\nt,hotp,AA\n s ,totp,AB",
        .repeated(serial: "s", first: "line 2", again: "line 5")
      ),
      (
        #"{"tokens":[{"serial":"s"},{"serial":"t"},{"serial":"s","kind":"totp"}]}"#,
        .repeated(serial: "s", first: "token 1", again: "token 3")
      ),
    ])
  func refusals(_ text: String, _ failure: TokenListFailure) {
    #expect(throws: failure) { try tokens(text) }
  }

  @Test("serial numbers are compared exactly, and each token has a position")
  func places() throws {
    let list = try TokenList(parsing: Array("serial,kind,secret\n\ns,hotp,AA\nS,hotp,AA".utf8))
    #expect(list.tokens.indices.map { list.location(of: $0) } == ["line 3", "line 4"])
    let json = try TokenList(parsing: Array(#"{"tokens":[{"serial":"s"},{},{}]}"#.utf8))
    #expect(json.tokens.indices.map { json.location(of: $0) } == ["token 1", "token 2", "token 3"])
  }

  @Test("bytes that are no UTF-8 are refused") func bytes() {
    #expect(throws: TokenListFailure.notUTF8) { try TokenList(parsing: Array("serial".utf8) + [0xFF]) }
  }

  @Test("a key of PSKC without a name is refused, and a refusal names the token")
  func pskc() throws {
    func document(_ name: String, _ algorithm: String) -> String {
      """
      \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
      <KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc"><KeyPackage>
      <DeviceInfo><Manufacturer>Example</Manufacturer>\(name)</DeviceInfo>
      <Key Id="" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:\(algorithm)">
      <AlgorithmParameters><ResponseFormat Length="8" Encoding="DECIMAL"/></AlgorithmParameters>
      <Data><Secret><PlainValue>\(Self.secret)=</PlainValue></Secret><Counter><PlainValue>5</PlainValue></Counter></Data>
      </Key></KeyPackage></KeyContainer>
      """
    }
    let list = try tokens(document("<SerialNo>P1</SerialNo>", "hotp"))
    #expect(
      list == [
        [
          "serial": "P1", "algorithm": "SHA1", "digits": 8, "secret": .string(Self.secret), "kind": "hotp",
          "counter": 5,
        ]
      ])
    let failure = #expect(throws: TokenListFailure.self) {
      try tokens(document("<SerialNo>P1</SerialNo>", "pin"))
    }
    #expect(failure?.description.contains("P1") == true, "\(String(describing: failure))")
  }
}
