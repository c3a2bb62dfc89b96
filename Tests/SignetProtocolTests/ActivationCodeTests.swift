import SignetCrypto
import SignetJSON
import SignetProtocol
import Testing

/// The scanned, pasted and typed forms.
@Suite struct ActivationCodeTests {
  private static func sample() throws -> (code: ActivationCode, message: MessageSample) {
    (try MessageSample.code(ProtocolVector.load()[0]), try MessageSample.named("activation code"))
  }

  private static func parse(_ bytes: [UInt8]) throws(ActivationCodeFailure) -> ActivationCode {
    try ActivationCode(parsing: String(decoding: bytes, as: UTF8.self))
  }

  @Test func readsWhatItWrites() throws {
    let (code, _) = try Self.sample()
    #expect(try ActivationCode(parsing: code.text) == code)
    #expect(code.text.utf8.count <= ActivationCode.maximumByteCount)
  }

  @Test func refusesNewerVersionsAndLargeTexts() throws {
    let (_, message) = try Self.sample()
    #expect(throws: ActivationCodeFailure.version(2)) { try Self.parse(message.setting("ver", to: 2)) }
    let large = String(repeating: " ", count: 2049)
    #expect(throws: ActivationCodeFailure.tooLarge(2049)) { try ActivationCode(parsing: large) }
    #expect(ActivationCodeFailure.version(2).description.contains("update Signet"))
  }

  @Test func takesUpToFourPins() throws {
    let (_, message) = try Self.sample()
    let pin = JSONValue.string(Base64URL.encode([UInt8](repeating: 3, count: 32)))
    for count in 0...4 {
      let pins = JSONValue.array(Array(repeating: pin, count: count))
      #expect(try Self.parse(message.setting("pin", to: pins)).pins.count == count)
    }
    for bad: JSONValue in [
      .array(Array(repeating: pin, count: 5)), [.string(Base64URL.encode([1, 2]))], [1], "x",
    ] {
      #expect(throws: ActivationCodeFailure.self) { try Self.parse(message.setting("pin", to: bad)) }
    }
  }

  @Test(arguments: ["http://a/b", "a", "a/b?c", "a/b#c", "u@a/b", "a/b/c", "ftp://a/b", ""])
  func refusesOtherURLs(_ url: String) throws {
    let (_, message) = try Self.sample()
    #expect(throws: ActivationCodeFailure.self) { try Self.parse(message.setting("url", to: .string(url))) }
  }

  @Test func readsInvitesAsPeopleTypeThem() throws {
    let invite = try InviteCode("CKGX-8SK5-JQTK-0S4E-$")
    for typed in ["ckgx8sk5jqtk0s4e$", " CKGX 8SK5 JQTK 0S4E $ ", "ckgx-8sk5-jqtk-os4e-$"] {
      #expect(try InviteCode(typed) == invite)
    }
    #expect(throws: InviteCodeFailure.length(16)) { try InviteCode("CKGX-8SK5-JQTK-0S4E") }
    #expect(throws: InviteCodeFailure.symbol) { try InviteCode("CKGX-8SK5-JQTK-0S4!-$") }
    #expect(throws: InviteCodeFailure.self) { try InviteCode("") }
  }

  @Test("each wrong symbol and each swap of neighbours is a typing error")
  func findsTypingErrors() throws {
    let symbols = Array("CKGX8SK5JQTK0S4E$")
    for index in 0..<16 {
      for symbol in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" where symbol != symbols[index] {
        var wrong = symbols
        wrong[index] = symbol
        #expect(throws: InviteCodeFailure.typingError) { try InviteCode(String(wrong)) }
      }
      guard index < 15, symbols[index] != symbols[index + 1] else { continue }
      var swapped = symbols
      swapped.swapAt(index, index + 1)
      #expect(throws: InviteCodeFailure.typingError) { try InviteCode(String(swapped)) }
    }
  }

  @Test func printsNoInvite() throws {
    let (code, _) = try Self.sample()
    var dumped = ""
    dump(code, to: &dumped)
    let printed = "\(code) \(code.invite) \(String(reflecting: code)) \(dumped)"
    #expect(!printed.contains(code.invite.inviteText))
    #expect(!printed.contains(code.invite.typedForm))
    // Nor its bytes as a list of numbers: 0x64 is the first one.
    #expect(!printed.contains("[100, ") && !dumped.contains("- 100"))
    #expect("\(code.invite)" == "InviteCode(hidden)")
  }

  @Test func namesNoInviteInFailures() throws {
    let (code, message) = try Self.sample()
    let wrong = String(code.invite.typedForm.dropLast()) + "0"
    let failure = #expect(throws: ActivationCodeFailure.self) {
      try Self.parse(message.setting("inv", to: .string(wrong)))
    }
    let text = "\(try #require(failure)) \(String(reflecting: failure))"
    #expect(text.contains("typing error"))
    #expect(!text.contains(wrong.prefix(4)))
  }
}
