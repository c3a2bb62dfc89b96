import SignetCrypto
import SignetJSON
import SignetUAF
import Testing

@Suite struct SignetModelTests {
  @Test("ten models, each with a statement that servers read") func statements() throws {
    let statements = SignetModel.statements
    #expect(
      Set(statements.map(\.aaid.text)) == [
        "5167#0001", "5167#0002", "5167#0003", "5167#0004", "5167#0005", "5167#1001", "5167#1002",
        "5167#1003", "5167#1004", "5167#1005",
      ])
    for statement in statements {
      #expect(try MetadataStatement(parsing: statement.json.bytes) == statement)
      let model = try AuthenticatorModel(statement)
      #expect(model.traits.attestationTypes == [.basicSurrogate] && model.traits.algorithms == [.p256DER])
      #expect(statement.keyProtection == (statement.aaid.model >= 0x1000 ? .hardware : .software))
      #expect(statement.keyFormat == .x962DER && statement.attestationRootCertificates.isEmpty)
    }
    #expect(AuthenticatorModels(try statements.map { try AuthenticatorModel($0) }).aaids.count == 10)
  }

  @Test("no number of another vendor") func vendor() {
    for model in SignetModel.allCases {
      for isInHardware in [false, true] {
        #expect(model.aaid(inHardware: isInHardware).vendor == 0x5167)
      }
    }
  }

  @Test("a PIN's statement says what locks it") func accuracy() {
    let method = SignetModel.pin.statement(inHardware: false).userVerificationDetails[0][0]
    #expect(method.userVerification == .passcode)
    #expect(method.accuracy == .code(base: 10, minimumLength: 4, maximumRetries: 5, blockSlowdown: 0))
  }
}

@Suite struct UAFRequestMessageTests {
  private static let header = OperationHeader(operation: .registration, appID: "https://a.example")

  @Test("a request is read as what it says that it is") func kinds() throws {
    let policy = Policy(accepted: [[MatchCriteria(aaids: [AAID(vendor: 1, model: 1)])]])
    let registration = RegistrationRequest(
      header: Self.header, challenge: [UInt8](1...8), username: "u", policy: policy)
    let authentication = AuthenticationRequest(
      header: OperationHeader(operation: .authentication, appID: nil), challenge: [UInt8](1...8),
      policy: policy)
    let deregistration = DeregistrationRequest(
      header: OperationHeader(operation: .deregistration, appID: nil), targets: [.everything])
    #expect(try UAFRequestMessage(parsing: Array(registration.text.utf8)) == .registration(registration))
    #expect(
      try UAFRequestMessage(parsing: Array(authentication.text.utf8)) == .authentication(authentication))
    #expect(
      try UAFRequestMessage(parsing: Array(deregistration.text.utf8)) == .deregistration(deregistration))
    #expect(try UAFRequestMessage(parsing: Array(registration.text.utf8)).header == Self.header)
  }

  @Test("an extension of the header that has to be known is refused by name") func extensions() throws {
    let header = OperationHeader(
      operation: .deregistration, appID: nil,
      extensions: [UAFExtension(id: "x", data: "", failIfUnknown: true)])
    let text = Array(DeregistrationRequest(header: header, targets: [.everything]).text.utf8)
    #expect(throws: MessageFailure.unknownExtension("x")) { try UAFRequestMessage(parsing: text) }
    #expect(try UAFRequestMessage(parsing: text, knownExtensions: ["x"]).header == header)
  }

  @Test("pictures whose chunks are cut, strange or doubled show nothing") func pictures() throws {
    func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
      var check = UInt32.max
      for byte in Array(name.utf8) + data {
        check ^= UInt32(byte)
        for _ in 0..<8 { check = check & 1 == 0 ? check >> 1 : check >> 1 ^ 0xEDB8_8320 }
      }
      let end = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: ~check >> UInt32($0)) }
      return [0, 0, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + Array(name.utf8) + data + end
    }
    let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    let header = chunk("IHDR", [0, 0, 1, 0, 0, 0, 0, 9, 8, 3, 0, 0, 1])
    let palette = chunk("PLTE", [1, 2, 3, 4, 5, 6])
    let said = DisplayPNGCharacteristics(
      width: 256, height: 9, bitDepth: 8, colourType: 3, interlace: 1,
      palette: [.init(red: 1, green: 2, blue: 3), .init(red: 4, green: 5, blue: 6)])
    func isShown(_ content: [UInt8]) throws -> Bool {
      try #require(UAFTransaction(contentType: .png, content: content, pngCharacteristics: said))
        .isShownAsItIs
    }
    func joined(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }
    let (rows, end) = (chunk("IDAT", [1, 2]), chunk("IEND", []))
    let whole = joined(start, header, palette, rows, end)
    #expect(try isShown(whole))
    let damaged = Array(rows.dropLast()) + [0]
    let bad: [[UInt8]] = [
      start, joined(start, header), joined(start, header, palette), Array(whole.dropLast()), whole + [0],
      joined(start, palette, header, rows, end), joined(start, header, palette, palette, rows, end),
      joined(start, header, rows, end), joined(start, header, chunk("PLTE", [1, 2, 3, 4]), rows, end),
      joined(Array(start.prefix(4)), header, palette, rows, end),
      joined(start, chunk("IHDR", [1]), palette, rows, end), joined(start, Array(header.prefix(20))),
      joined(start, header, palette, damaged, end),
    ]
    for content in bad { #expect(try !isShown(content)) }
  }
}
