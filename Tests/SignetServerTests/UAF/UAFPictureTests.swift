import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetUAF
import Testing
import UAFFixture

/// Transactions in several formats: each authenticator gets one that its model can show, and none that it cannot.
@Suite(.timeLimit(.minutes(10))) struct UAFPictureTests {
  private let texts: UAFTestKey
  private let pictures: UAFTestKey
  private let blind: UAFTestKey

  init() {
    texts = UAFTestKey()
    var pictures = UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2))
    pictures.describe = { statement in
      statement.displayContentType = "image/png"
      statement.pngCharacteristics = [UAFTestPicture(8, 8), UAFTestPicture(16, 8, colourType: 2)].map(
        \.characteristics)
    }
    self.pictures = pictures
    var blind = UAFTestKey(aaid: AAID(vendor: 0x7357, model: 3))
    blind.describe = { ($0.display, $0.displayContentType) = ([], nil) }
    self.blind = blind
  }

  /// A server at which alice has a key of each of some models.
  private func server(_ keys: [UAFTestKey]) async throws -> UAFServer {
    let server = try await UAFServer([texts, pictures, blind])
    for key in keys { #expect(try await server.register(key).integer("statusCode") == 1200) }
    return server
  }

  private static let text: JSONObject = [
    "contentType": "text/plain", "content": .string(Base64URL.encode(Array("Pay 10 to Bob".utf8))),
  ]

  private static func picture(
    _ picture: UAFTestPicture, saying characteristics: DisplayPNGCharacteristics? = nil
  ) -> JSONObject {
    [
      "contentType": "image/png", "content": .string(Base64URL.encode(picture.bytes)),
      "tcDisplayPNGCharacteristics": .object((characteristics ?? picture.characteristics).json),
    ]
  }

  private func context(_ forms: [JSONObject]) -> String {
    JSONValue.object(["username": "alice", "transaction": .array(forms.map { .object($0) })]).text
  }

  private func ask(_ server: UAFServer, _ forms: [JSONObject]) async throws -> JSONObject {
    try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(context(forms))], isOrdered: true)
  }

  /// The models that a request accepts.
  private func models(_ asked: JSONObject) throws -> Set<AAID> {
    let request = try AuthenticationRequest(
      parsing: Array(asked.string("uafRequest").utf8), versions: [.v1_1])
    return Set(request.policy.accepted.flatMap { $0.flatMap { $0.aaids ?? [] } })
  }

  @Test(
    "an authenticator is asked if its model displays the content type and picture characteristics"
  )
  func asks() async throws {
    let server = try await server([texts, pictures, blind])
    let small = Self.picture(UAFTestPicture(8, 8))
    let wide = Self.picture(UAFTestPicture(16, 8, colourType: 2))
    let other = Self.picture(UAFTestPicture(8, 8, colourType: 2))
    let cases: [([JSONObject], Set<AAID>)] = [
      ([Self.text], [texts.aaid]), ([small], [pictures.aaid]), ([wide], [pictures.aaid]),
      ([Self.text, small], [texts.aaid, pictures.aaid]), ([other, small], [pictures.aaid]),
      ([other, Self.text], [texts.aaid]), ([], [texts.aaid, pictures.aaid, blind.aaid]),
    ]
    for (forms, expected) in cases {
      let asked =
        forms.isEmpty
        ? try await server.uaf(
          "/uaf/1.1/request/authentication", ["op": "Auth", "context": #"{"username":"alice"}"#])
        : try await ask(server, forms)
      #expect(try asked.integer("statusCode") == 1200)
      #expect(try models(asked) == expected)
    }
  }

  @Test("content that none of the user's authenticators displays is refused")
  func asksForNothingUnshown() async throws {
    let server = try await server([texts, blind])
    let picture = Self.picture(UAFTestPicture(8, 8))
    #expect(try await ask(server, [picture]).integer("statusCode") == 1498)
    #expect(try await ask(server, [Self.text]).integer("statusCode") == 1200)
    // No token is made for it either.
    let refused = try await server.send(
      .post, "/token/create/authentication",
      JSONValue.object(["op": "Auth", "context": .string(context([picture]))]).bytes,
      [("Content-Type", "application/json")], isOrdered: true)
    #expect(try refused.refusal == "400 malformed")
    let made = try await server.json(
      "/token/create/authentication", ["op": "Auth", "context": .string(context([Self.text]))])
    #expect(try !made.string("token").isEmpty)
  }

  @Test("a picture that is damaged, animated, too large or wrongly described is refused")
  func refusesPictures() async throws {
    let server = try await server([pictures])
    let good = UAFTestPicture(8, 8)
    #expect(try await ask(server, [Self.picture(good)]).integer("statusCode") == 1200)
    var (cut, moving, long) = (good, good, good)
    cut.edit = { $0[1].data.removeSubrange(($0[1].data.count / 2)...) }
    moving.edit = { $0.insert(("acTL", [0, 0, 0, 2, 0, 0, 0, 0]), at: 1) }
    long.trailing = [0]
    for picture in [
      Self.picture(cut), Self.picture(moving), Self.picture(long), Self.picture(UAFTestPicture(1281, 1)),
      Self.picture(good, saying: UAFTestPicture(8, 9).characteristics),
    ] {
      #expect(try await ask(server, [picture]).integer("statusCode") == 1498)
      #expect(try await ask(server, [Self.picture(good), picture]).integer("statusCode") == 1498)
    }
    var nameless = Self.picture(good)
    nameless["tcDisplayPNGCharacteristics"] = nil
    #expect(try await ask(server, [nameless]).integer("statusCode") == 1400)
  }

  @Test("the hash must be of the shown form; another picture's hash is refused (24)")
  func confirms() async throws {
    let server = try await server([pictures])
    var key = pictures
    let forms = [UAFTestPicture(8, 8), UAFTestPicture(16, 8, colourType: 2)]
    for (index, shown) in forms.enumerated() {
      key.signCounter += 1
      let request = try UAFAttempt.first(
        of: try await ask(server, forms.map { Self.picture($0) }).string("uafRequest"))
      var attempt = UAFAttempt(.authentication)
      attempt.elements = {
        $0.change(.transactionContentHash) { $0 = HashFunction.sha256.digest(of: shown.bytes) }
      }
      let answer = try await server.uaf(
        "/uaf/1.1/authentication", ["uafResponse": .string(attempt.answer(request, key))])
      #expect(try answer.integer("statusCode") == 1200, "\(index)")
    }
    key.signCounter += 1
    var attempt = UAFAttempt(.authentication)
    attempt.context = context([Self.picture(forms[0])])
    attempt.elements = {
      $0.change(.transactionContentHash) { $0 = HashFunction.sha256.digest(of: forms[1].bytes) }
    }
    #expect(try await attempt.send(to: server, key).integer("statusCode") == 1498)
    // A picture makes no transaction of the server's.
    #expect(try await !server.audit().contains { $0.contains("transaction.added") })
  }
}
