import SignetCrypto
import Testing

@Suite struct ECDSASignatureTests {
  @Test("raw form and DER convert into each other at each length of the numbers")
  func convertsBothWays() throws {
    for (r, s, der) in [
      ("01", "01", "3006020101020101"), ("7f", "80", "300702017f02020080"), ("00", "00", "3006020100020100"),
      (
        "ff00000000000000000000000000000000000000000000000000000000000000",
        "7f00000000000000000000000000000000000000000000000000000000000000",
        "3045022100ff0000000000000000000000000000000000000000000000000000000000000002207f00000000000000000000000000000000000000000000000000000000000000"
      ),
    ] {
      let raw = try padded(r) + padded(s)
      let signature = try ECDSASignature(rawRepresentation: raw)
      #expect(Hex.encode(signature.derRepresentation) == der)
      #expect(try ECDSASignature(derRepresentation: bytes(der)) == signature)
    }
  }

  @Test(
    "refused encodings",
    arguments: [
      ("empty", ""), ("only a tag", "30"), ("trailing byte", "300602010102010100"),
      ("trailing byte inside", "30070201010201 0100"), ("three numbers", "3009020101020101020101"),
      ("one number", "3003020101"), ("negative r", "3006020180020101"), ("negative s", "3006020101 0201ff"),
      ("needless zero", "300702020001020101"), ("empty number", "30050200020101"),
      ("long length", "308106020101020101"), ("longer length", "30820006020101020101"),
      ("long number length", "30070281010102 0101"), ("indefinite length", "30800201010201010000"),
      ("wrong outer tag", "3106020101020101"), ("wrong inner tag", "3006030101020101"),
      ("constructed number", "3006220101020101"), ("cut", "30060201010201"), ("overlong", "3007020101020101"),
      ("five bytes of length", "308500000000060201010201 01"),
      (
        "257 bits",
        "302602210100000000000000000000000000000000000000000000000000000000000000000201 01"
      ),
    ])
  func refuses(_ name: String, _ der: String) throws {
    let der = try bytes(der)
    #expect(throws: CryptoFailure.invalidSignatureEncoding) { try ECDSASignature(derRepresentation: der) }
  }

  @Test func refusesRawFormsOfOtherLengths() {
    for count in [0, 32, 63, 65, 128] {
      #expect(throws: CryptoFailure.invalidSignatureEncoding) {
        try ECDSASignature(rawRepresentation: [UInt8](repeating: 1, count: count))
      }
    }
  }

  private func padded(_ digits: String) throws -> [UInt8] {
    let number = try bytes(digits)
    return [UInt8](repeating: 0, count: 32 - number.count) + number
  }
}
