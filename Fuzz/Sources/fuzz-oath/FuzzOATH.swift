import LibFuzzer
import SignetCrypto
import SignetOATH

@main struct FuzzOATH {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkBase32(text)
    checkCrockford(text)
    checkBytes(input)
    checkOCRA(text)
    _ = hotp.counter(matching: text, in: 0...3)
  }

  private static func checkBase32(_ text: String) {
    let strict = base32(text, .strict)
    let lenient = base32(text, .lenient)
    let transcribed = base32(text, .transcribed)
    require(strict == nil || strict == lenient, "lenient reads what strict reads, alike")
    require(lenient == nil || lenient == transcribed, "transcribed reads what lenient reads, alike")
    let secret = accepted { () throws(Base32Failure) in try Base32.decodeSecret(text, mode: .transcribed) }
    guard let transcribed else { return require(secret == nil, "secrets are read alike") }
    let isSame = secret?.isEqual(to: SecretBytes(copying: transcribed)) == true
    require(isSame, "secrets are read alike")
    require(transcribed.count <= text.utf8.count * 5 / 8, "no byte comes from nowhere")
    require(base32(Base32.encode(transcribed), .lenient) == transcribed, "what is printed is read")
  }

  private static func base32(_ text: String, _ mode: Base32.Mode) -> [UInt8]? {
    accepted { () throws(Base32Failure) in try Base32.decode(text, mode: mode) }
  }

  private static func checkCrockford(_ text: String) {
    for byteCount in [1, 2, 3, 4, 5, 10] {
      for hasCheck in [false, true] {
        let bytes = accepted { () throws(CrockfordBase32Failure) in
          try CrockfordBase32.decode(text, byteCount: byteCount, withCheckSymbol: hasCheck)
        }
        guard let bytes else { continue }
        require(bytes.count == byteCount, "as many bytes as asked for")
        let canonical = text.uppercased().replacing("O", with: "0").replacing("I", with: "1")
          .replacing("L", with: "1").filter { $0 != "-" && $0 != " " }
        require(
          CrockfordBase32.encode(bytes, withCheckSymbol: hasCheck) == canonical,
          "but for case, groups and look-alikes, bytes have one text")
      }
    }
  }

  private static func checkBytes(_ input: [UInt8]) {
    if input.count < 4096 {
      require(base32(Base32.encode(input), .lenient) == input, "what is printed is read")
    }
    guard (1...32).contains(input.count) else { return }
    let typed = CrockfordBase32.encode(input, withCheckSymbol: true, groupSize: 4)
    let bytes = made("what is printed is read") { () throws(CrockfordBase32Failure) in
      try CrockfordBase32.decode(typed, byteCount: input.count, withCheckSymbol: true)
    }
    require(bytes == input, "printing loses nothing")
  }

  /// A suite, and after a space a challenge.
  private static func checkOCRA(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard let first = parts.first,
      let suite = accepted({ () throws(OCRAFailure) in try OCRASuite(String(first)) })
    else { return }
    require(suite.description == first, "a suite stays as it was written")
    let ocra = made("a calculator") { () throws(OCRAFailure) in
      try OCRA(secret: SecretBytes(copying: [1]), suite: suite)
    }
    let challenge = accepted { () throws(OCRAFailure) in
      try OCRAChallenge(parts.count == 2 ? String(parts[1]) : "", for: suite)
    }
    let input = OCRAInput(
      counter: suite.hasCounter ? 1 : nil,
      pin: suite.pinHash == nil ? nil : SharedSecretBox(SecretBytes(copying: [0x31])),
      session: suite.sessionByteCount == nil ? nil : [1], unixTime: suite.timeStep == nil ? nil : 1)
    let response = made("a response to what a suite allows") { () throws(OCRAFailure) in
      try ocra.response(to: challenge ?? .random(for: suite), input)
    }
    let length = suite.digits == 0 ? suite.algorithm.hash.byteCount * 2 : suite.digits
    require(response.utf8.count == length, "as many characters as the suite says")
  }

  private static let hotp = made("a generator") { () throws(OATHFailure) in
    try HOTP(secret: SecretBytes(copying: Array("a secret of 20 bytes".utf8)))
  }
}
