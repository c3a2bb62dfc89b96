import SignetJSON
import SignetTestKit
import Testing

@Suite("Hostile lines", .timeLimit(.minutes(10)))
struct CheckHostileInputTests {
  private static let corpus: [[UInt8]] = [
    #"{"id":1,"op":"base32-decode","text":"MZXW6YTBOI======","mode":"strict"}"#,
    #"{"id":1,"op":"base32-encode","bytesHex":"00ff"}"#,
    #"{"id":1,"op":"hotp","secretHex":"3132333435","algorithm":"SHA512","digits":8,"counter":1}"#,
    #"{"id":1,"op":"totp","secretHex":"3132333435","digits":6,"period":30,"unixTime":59,"t0":0}"#,
    #"{"id":1,"op":"jwk","jwk":{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
      + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}}"#,
    #"{"id":1,"op":"jws-verify","jws":"eyJhbGciOiJIUzI1NiJ9.AQID.AQID","jwk":{"keys":[{"kty":"oct","k":"#
      + #""AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}]}}"#,
    #"{"id":1,"op":"jwe-decrypt","jwe":"eyJhbGciOiJBMTI4S1ciLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0.6KB707dM9YTIgHtLvtgW"#
      + #"Q8mKwboJW3of9locizkDTHzBC2IlrT1oOQ.AxY8DCtDaGlsbGljb3RoZQ.KDlTtXchhZTGufMYmOYGS4HffxPSUrfmqCHXaI9wOGY.U0m"#
      + #"_YmjN04DJvceFICbCVQ","jwk":{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}}"#,
    #"{"id":1,"op":"ecdh","encoding":"point","privateHex":"0612465c89a023ab17855b0a6bcebfd3febb53aef84138647b5352"#
      + #"e02c10c346","publicHex":"0462d5bd3372af75fe85a040715d0f502428e07046868b0bfdfa61d731afe44f26ac333a93a9e70a81"#
      + #"cd5a95b5bf8d13990eb741c8c38872b4a07d275a014e30cf"}"#,
    #"{"id":1,"op":"ecdsa-verify","encoding":"point","form":"der","curve":"P-256","messageHex":"313233343030","#
      + #""publicHex":"042927b10512bae3eddcfe467828128bad2903269919f7086069c8c4df6c732838c7787964eaac00e5921fb1498a60"#
      + #"f4606766b3d9685001558d1a974e7341513e","signatureHex":"304402202ba3a8be6b94d5ec80a6d9d1190a436effe50d85a1ee"#
      + #"e859b8cc6af9bd5c2e1802204cd60b855d442f5b3c7b11eb6c4e0ae7525fe710fab9aa7c77a67f79e6fadd76"}"#,
  ].map { Array($0.utf8) }

  private static let fragments: [[UInt8]] = [
    "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "-1", "1e999", "9223372036854775808", "\"\"", "\\u0000",
    "\\ud83d", "[[[[[[[[", "{\"a\":", "0", "=", ".", "00", "ff", "\u{FEFF}", "é", "\r",
  ].map { Array($0.utf8) }

  private static func mutated(_ generator: inout SplitMix64) -> [UInt8] {
    var line = corpus.randomElement(using: &generator) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let position = Int.random(in: 0...line.count, using: &generator)
      let end = min(line.count, position + Int.random(in: 0...8, using: &generator))
      switch Int.random(in: 0..<6, using: &generator) {
      case 0 where position < line.count:
        line[position] ^= UInt8(1 << Int.random(in: 0..<8, using: &generator))
      case 1 where position < line.count: line[position] = UInt8.random(in: 0...255, using: &generator)
      case 2: line.removeSubrange(position..<end)
      case 3: line.insert(contentsOf: line[position..<end], at: position)
      case 4: line.insert(contentsOf: fragments.randomElement(using: &generator) ?? [], at: position)
      default: line.replaceSubrange(position..<end, with: fragments.randomElement(using: &generator) ?? [])
      }
    }
    return line.filter { $0 != 0x0A }  // one line stays one line
  }

  @Test(
    "ten thousand mutated requests: each is answered, in order, and the process lives", arguments: [1, 2])
  func mutations(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    var lines: [[UInt8]] = []
    for index in 0..<5000 {
      lines.append(Self.mutated(&generator))
      lines.append(Array(#"{"id":"mark \#(index)","op":"base32-encode","bytesHex":""}"#.utf8))
    }
    let answers = try CheckTool.answers(to: lines)
    try #require(answers.count == lines.count)
    for index in 0..<5000 {
      let answer = answers[2 * index]
      let isAnswer =
        answer.count == 2 && answer.contains("id") && (answer.ok != nil) != (answer.errorCode != nil)
      let isInternal = answer.errorCode == "internal"
      #expect(isAnswer && !isInternal, "line \(lines[2 * index]) got \(answer.text)")
      #expect(answers[2 * index + 1] == ["id": .string("mark \(index)"), "ok": ["text": ""]])
    }
  }

  @Test("random bytes and lines: as many answers as lines")
  func noise() throws {
    var generator = SplitMix64(seed: 3)
    let bytes = (0..<200_000).map { _ in
      Int.random(in: 0..<20, using: &generator) == 0 ? 0x0A : UInt8.random(in: 0...255, using: &generator)
    }
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
    let answers = try CheckTool.answers(to: lines)
    #expect(answers.count == lines.count)
    #expect(answers.allSatisfy { $0.errorCode == "input.malformed" })
  }
}
