import SignetCrypto
package import SignetJSON

/// What a user is asked to confirm.
package struct Transaction: Hashable, Sendable {
  /// What a transaction's content is.
  package enum ContentType: String, Hashable, Sendable {
    /// At most 200 ASCII characters.
    case text = "text/plain"
    /// A picture that fits the authenticator's display.
    case png = "image/png"
  }

  package let contentType: ContentType
  /// What is shown, and hashed.
  package let content: [UInt8]
  package let pngCharacteristics: DisplayPNGCharacteristics?

  /// Makes a transaction; nil where its content is not what its type says.
  package init?(
    contentType: ContentType, content: [UInt8], pngCharacteristics: DisplayPNGCharacteristics? = nil
  ) {
    guard Self.isContent(content, contentType), contentType == .text || pngCharacteristics != nil else {
      return nil
    }
    self.contentType = contentType
    self.content = content
    self.pngCharacteristics = pngCharacteristics
  }

  /// Reads a transaction that stands by itself.
  package init(_ object: JSONObject) throws(MessageFailure) { try self.init(DictionaryReader(object)) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    guard let type = ContentType(rawValue: try reader.string("contentType", 1...64)) else {
      throw reader.failure("contentType", .value)
    }
    contentType = type
    content = try reader.bytes("content", 1...Self.maximumByteCount)
    guard Self.isContent(content, type) else { throw reader.failure("content", .form) }
    pngCharacteristics = try reader.optionalDictionary("tcDisplayPNGCharacteristics")
      .map { reader throws(MessageFailure) in try DisplayPNGCharacteristics(reader) }
    guard type == .text || pngCharacteristics != nil else {
      throw reader.failure("tcDisplayPNGCharacteristics", .missing)
    }
  }

  /// The digest that the authenticator signs.
  package var hash: [UInt8] { HashFunction.sha256.digest(of: content) }

  package var json: JSONObject {
    var object: JSONObject = [
      "contentType": .string(contentType.rawValue), "content": .string(Base64URL.encode(content)),
    ]
    object.setOptional("tcDisplayPNGCharacteristics", pngCharacteristics.map { .object($0.json) })
    return object
  }

  private static let maximumByteCount = 131_072

  private static func isContent(_ content: [UInt8], _ type: ContentType) -> Bool {
    switch type {
    case .text: (1...200).contains(content.count) && content.allSatisfy { $0 < 0x80 }
    case .png: content.count <= maximumByteCount && content.starts(with: [0x89, 0x50, 0x4E, 0x47])
    }
  }
}

/// What a picture has to be like so that an authenticator can show it (PNG's IHDR and PLTE).
package struct DisplayPNGCharacteristics: Hashable, Sendable {
  /// One colour of a palette.
  package struct Colour: Hashable, Sendable {
    package let red: UInt16
    package let green: UInt16
    package let blue: UInt16

    package init(red: UInt16, green: UInt16, blue: UInt16) {
      (self.red, self.green, self.blue) = (red, green, blue)
    }

    init(_ reader: DictionaryReader) throws(MessageFailure) {
      red = try reader.number("r")
      green = try reader.number("g")
      blue = try reader.number("b")
    }

    var json: JSONObject { ["r": .number(red), "g": .number(green), "b": .number(blue)] }
  }

  package let width: UInt32
  package let height: UInt32
  package let bitDepth: UInt8
  package let colourType: UInt8
  package let compression: UInt8
  package let filter: UInt8
  package let interlace: UInt8
  package let palette: [Colour]

  package init(
    width: UInt32, height: UInt32, bitDepth: UInt8, colourType: UInt8, compression: UInt8 = 0,
    filter: UInt8 = 0, interlace: UInt8 = 0, palette: [Colour] = []
  ) {
    self.width = width
    self.height = height
    self.bitDepth = bitDepth
    self.colourType = colourType
    self.compression = compression
    self.filter = filter
    self.interlace = interlace
    self.palette = palette
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    width = try reader.number("width")
    height = try reader.number("height")
    bitDepth = try reader.number("bitDepth")
    colourType = try reader.number("colorType")
    compression = try reader.number("compression")
    filter = try reader.number("filter")
    interlace = try reader.number("interlace")
    palette =
      try reader.optionalList("plte", maximum: 256) { value, path throws(MessageFailure) in
        try Colour(DictionaryReader(value, path))
      } ?? []
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "width": .number(width), "height": .number(height), "bitDepth": .number(bitDepth),
      "colorType": .number(colourType), "compression": .number(compression), "filter": .number(filter),
      "interlace": .number(interlace),
    ]
    if !palette.isEmpty { object["plte"] = .dictionaries(palette.map(\.json)) }
    return object
  }
}

/// What a server asks for when a user signs in, or confirms a transaction.
package struct AuthenticationRequest: UAFProtocolMessage, Hashable {
  package static let operation = UAFOperation.authentication
  package static let limits = JSONLimits(maximumByteCount: 1 << 20)
  package let header: OperationHeader
  package let challenge: [UInt8]
  /// The same transaction in one or more types; empty for signing in alone.
  package let transactions: [Transaction]
  package let policy: Policy

  package init(
    header: OperationHeader, challenge: [UInt8], transactions: [Transaction] = [], policy: Policy
  ) {
    self.header = header
    self.challenge = challenge
    self.transactions = transactions
    self.policy = policy
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    challenge = try reader.bytes("challenge", 8...64)
    transactions =
      try reader.optionalList("transaction", maximum: 16) { value, path throws(MessageFailure) in
        try Transaction(DictionaryReader(value, path))
      } ?? []
    policy = try Policy(reader.dictionary("policy"))
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "header": .object(header.json), "challenge": .string(Base64URL.encode(challenge)),
    ]
    if !transactions.isEmpty { object["transaction"] = .dictionaries(transactions.map(\.json)) }
    object["policy"] = .object(policy.json)
    return object
  }
}

/// A client's answer to an authentication request, as it was read: nothing in it is proved.
package struct AuthenticationResponse: UAFProtocolMessage, Hashable {
  package static let operation = UAFOperation.authentication
  package static let limits = JSONLimits.standard
  package let header: OperationHeader
  package let finalChallenge: FinalChallenge
  package let assertions: [ResponseAssertion]

  package init(header: OperationHeader, finalChallenge: FinalChallenge, assertions: [ResponseAssertion]) {
    self.header = header
    self.finalChallenge = finalChallenge
    self.assertions = assertions
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    finalChallenge = try FinalChallenge(parsing: reader.string("fcParams", 0...32_768))
    assertions = try reader.assertions()
  }

  package var json: JSONObject {
    [
      "header": .object(header.json), "fcParams": .string(finalChallenge.text),
      "assertions": .dictionaries(assertions.map(\.json)),
    ]
  }
}

/// Keys that a server wants gone.
package struct DeregistrationRequest: UAFProtocolMessage, Hashable {
  /// Which keys.
  package enum Target: Hashable, Sendable {
    /// All of the application.
    case everything
    /// All of a model.
    case model(AAID)
    /// One.
    case key(KeyReference)
  }

  package static let operation = UAFOperation.deregistration
  package static let limits = JSONLimits.standard
  package let header: OperationHeader
  /// `everything` stands alone.
  package let targets: [Target]

  package init(header: OperationHeader, targets: [Target]) {
    (self.header, self.targets) = (header, targets)
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    targets = try reader.list("authenticators") { value, path throws(MessageFailure) in
      try Target(DictionaryReader(value, path))
    }
    guard targets.count == 1 || !targets.contains(.everything) else {
      throw reader.failure("authenticators", .conflict)
    }
  }

  package var json: JSONObject {
    ["header": .object(header.json), "authenticators": .dictionaries(targets.map(\.json))]
  }
}

extension DeregistrationRequest.Target {
  /// Reads a target that stands by itself.
  package init(_ object: JSONObject) throws(MessageFailure) { try self.init(DictionaryReader(object)) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    let model = try reader.string("aaid", 0...9)
    let key = try reader.string("keyID", 0...2732)
    guard !model.isEmpty else {
      guard key.isEmpty else { throw reader.failure("keyID", .conflict) }
      self = .everything
      return
    }
    guard let aaid = AAID(model) else { throw reader.failure("aaid", .form) }
    if key.isEmpty {
      self = .model(aaid)
    } else {
      self = .key(
        KeyReference(aaid: aaid, keyID: try DictionaryReader.keyID(.string(key), reader.name("keyID"))))
    }
  }

  var json: JSONObject {
    switch self {
    case .everything: ["aaid": "", "keyID": ""]
    case .model(let aaid): ["aaid": .string(aaid.text), "keyID": ""]
    case .key(let key): ["aaid": .string(key.aaid.text), "keyID": .string(key.keyID.text)]
    }
  }
}
