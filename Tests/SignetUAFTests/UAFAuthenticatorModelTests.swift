import SignetCrypto
import SignetJSON
import SignetUAF
import Testing
import UAFFixture

@Suite struct UAFAuthenticatorModelTests {
  @Test("ten models, each with a valid metadata statement") func statements() throws {
    let statements = UAFAuthenticatorModel.statements
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

  @Test("model numbers belong to no other vendor") func vendor() {
    for model in UAFAuthenticatorModel.allCases {
      for isInHardware in [false, true] {
        #expect(model.aaid(inHardware: isInHardware).vendor == 0x5167)
      }
    }
  }

  @Test("a PIN's statement describes its lock") func accuracy() {
    let method = UAFAuthenticatorModel.pin.statement(inHardware: false).userVerificationDetails[0][0]
    #expect(method.userVerification == .passcode)
    #expect(method.accuracy == .code(base: 10, minimumLength: 4, maximumRetries: 5, blockSlowdown: 0))
  }
}

@Suite struct UAFRequestMessageTests {
  private static let header = OperationHeader(operation: .registration, appID: "https://a.example")

  @Test("a request is parsed as its declared type") func kinds() throws {
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

  @Test("an unknown critical header extension is refused by name") func extensions() throws {
    let header = OperationHeader(
      operation: .deregistration, appID: nil,
      extensions: [UAFExtension(id: "x", data: "", failIfUnknown: true)])
    let text = Array(DeregistrationRequest(header: header, targets: [.everything]).text.utf8)
    #expect(throws: MessageFailure.unknownExtension("x")) { try UAFRequestMessage(parsing: text) }
    #expect(try UAFRequestMessage(parsing: text, knownExtensions: ["x"]).header == header)
  }

  /// The errors of a picture.
  static let wrong: [(String, @Sendable (inout UAFTestPicture) -> Void)] = [
    ("a header alone", { $0.edit = { $0.removeSubrange(1...) } }),
    ("no end", { $0.edit = { $0.removeLast() } }),
    ("no pixels", { $0.edit = { $0.removeAll { $0.name == "IDAT" } } }),
    ("pixels that are cut", { $0.edit = { $0[2].data.removeLast(8) } }),
    ("pixels of half the rows", { $0.edit = { $0[2].data.removeSubrange(($0[2].data.count / 2)...) } }),
    ("the palette first", { $0.edit = { $0.swapAt(0, 1) } }),
    ("two palettes", { $0.edit = { $0.insert($0[1], at: 1) } }),
    ("no palette", { $0.edit = { $0.remove(at: 1) } }),
    ("a palette that is cut", { $0.edit = { $0[1].data.removeLast() } }),
    ("a critical chunk of nobody", { $0.edit = { $0.insert(("ABCD", [1]), at: 2) } }),
    ("frames that move", { $0.edit = { $0.insert(("acTL", [0, 0, 0, 1, 0, 0, 0, 0]), at: 1) } }),
    ("a transparent colour", { $0.edit = { $0.insert(("tRNS", [0]), at: 2) } }),
    ("a background", { $0.edit = { $0.insert(("bKGD", [0]), at: 2) } }),
    ("a picture that is turned", { $0.edit = { $0.insert(("eXIf", [0x4D, 0x4D, 0, 42]), at: 2) } }),
    ("a chunk of nobody", { $0.edit = { $0.insert(("abCd", [1]), at: 2) } }),
    ("bytes behind the end", { $0.trailing = [0] }),
    ("no width", { $0.edit = { $0[0].data[3] = 0 } }),
    ("a colour type of nobody", { $0.edit = { $0[0].data[9] = 5 } }),
    ("a depth of nobody", { $0.edit = { $0[0].data[8] = 3 } }),
  ]

  @Test("a picture is shown if it decodes completely and matches its description", arguments: wrong.indices)
  func pictures(_ index: Int) throws {
    var picture = UAFTestPicture(16, 9, colourType: 3)
    picture.palette = [1, 2, 3, 4, 5, 6]
    let said = picture.characteristics
    #expect(try #require(picture.transaction()).isShownAsItIs)
    let (name, spoil) = Self.wrong[index]
    spoil(&picture)
    #expect(picture.transaction(saying: said)?.isShownAsItIs != true, "\(name)")
  }

  @Test("each bit of a chunk's CRC and each member of the description is checked") func checks() throws {
    let picture = UAFTestPicture(4, 2, colourType: 2)
    let look = picture.characteristics
    var bytes = picture.bytes
    bytes[bytes.count - 20] ^= 1
    let spoiled = try #require(UAFTransaction(contentType: .png, content: bytes, pngCharacteristics: look))
    #expect(!spoiled.isShownAsItIs)
    let others: [DisplayPNGCharacteristics] = [
      .init(width: 5, height: 2, bitDepth: 8, colourType: 2),
      .init(width: 4, height: 3, bitDepth: 8, colourType: 2),
      .init(width: 4, height: 2, bitDepth: 16, colourType: 2),
      .init(width: 4, height: 2, bitDepth: 8, colourType: 6),
      .init(width: 4, height: 2, bitDepth: 8, colourType: 2, compression: 1),
      .init(width: 4, height: 2, bitDepth: 8, colourType: 2, filter: 1),
      .init(width: 4, height: 2, bitDepth: 8, colourType: 2, interlace: 1),
    ]
    for other in others { #expect(try !#require(picture.transaction(saying: other)).isShownAsItIs) }
  }

  @Test(
    "a picture too large by file, side or header is not decoded")
  func bounds() throws {
    #expect(try #require(UAFTestPicture(1280, 100).transaction()).isShownAsItIs)
    #expect(try !#require(UAFTestPicture(1281, 1).transaction()).isShownAsItIs)
    #expect(try #require(UAFTestPicture(1280, 800, colourType: 2).transaction()).isShownAsItIs)
    var long = UAFTestPicture(8, 8)
    long.edit = { $0.insert(("tEXt", [UInt8](repeating: 0x41, count: 131_072)), at: 1) }
    #expect(long.transaction() == nil)
    var bomb = UAFTestPicture(1, 1)
    bomb.edit = { $0[0].data.replaceSubrange(0..<8, with: [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]) }
    let said = DisplayPNGCharacteristics(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, bitDepth: 8, colourType: 0)
    #expect(try !#require(bomb.transaction(saying: said)).isShownAsItIs)
  }

  @Test("our own models show texts, and pictures of six kinds") func display() throws {
    let statement = UAFAuthenticatorModel.pin.statement(inHardware: false)
    #expect(
      try MetadataStatement(parsing: statement.json.bytes).pngCharacteristics
        == UAFAuthenticatorModel.pictures)
    let text = try #require(UAFTransaction(contentType: .text, content: [0x41]))
    #expect(statement.shows(text))
    #expect(UAFAuthenticatorModel.pictures.count == 6)
    #expect(try statement.shows(#require(UAFTestPicture(320, 200).transaction())))
    #expect(try statement.shows(#require(UAFTestPicture(320, 200, colourType: 2).transaction())) == true)
    #expect(try !statement.shows(#require(UAFTestPicture(321, 200).transaction())))
    #expect(try !statement.shows(#require(UAFTestPicture(320, 200, colourType: 4).transaction())))
    var other = statement
    other.displayContentType = "image/png"
    #expect(!other.shows(text))
    other.display = []
    #expect(try !other.shows(#require(UAFTestPicture(320, 200).transaction())))
    // A palette is required if the model has one.
    var indexed = UAFTestPicture(4, 4, colourType: 3)
    indexed.palette = [0, 0, 0, 255, 255, 255]
    var palettes = statement
    palettes.pngCharacteristics = [.init(width: 4, height: 4, bitDepth: 8, colourType: 3)]
    #expect(try palettes.shows(#require(indexed.transaction())))
    palettes.pngCharacteristics = [
      .init(
        width: 4, height: 4, bitDepth: 8, colourType: 3,
        palette: [.init(red: 0, green: 0, blue: 0), .init(red: 1, green: 1, blue: 1)])
    ]
    #expect(try !palettes.shows(#require(indexed.transaction())))
  }
}
