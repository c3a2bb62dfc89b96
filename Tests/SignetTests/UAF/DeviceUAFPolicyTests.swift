import Signet
import SignetCrypto
import SignetJSON
import SignetTesting
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing
import UAFFixture

@Suite("Policies and several authenticators together")
struct DeviceUAFPolicyTests {
  private let device: UAFDevice
  private let party: UAFParty

  init() throws {
    device = try UAFDevice()
    party = try UAFParty()
  }

  private func criterion(_ model: UAFAuthenticatorModel, _ keys: [UAFKey]? = nil) -> MatchCriteria {
    MatchCriteria(
      aaids: [model.aaid(inHardware: false)],
      keyIDs: keys?.compactMap { Base64URL.decodePadded($0.keyID).flatMap { KeyID($0) } })
  }

  private func enrolment(_ kind: UAFAuthenticator.Kind) async throws -> UAFEnrolment {
    UAFEnrolment(aaid: try await device.aaid(kind), authentication: UAFDevice.authentication(kind))
  }

  private func kinds(_ combinations: [[UAFCandidate]]) -> [[UAFAuthenticator.Kind]] {
    combinations.map { $0.map(\.authenticator.kind) }
  }

  @Test("two authenticators in one response, at registration and at every authentication")
  func combined() async throws {
    let policy = Policy(accepted: [[criterion(.pin), criterion(.fingerprint)], [criterion(.password)]])
    let request = party.registrationRequest(policy: policy)
    let registration = try await device.registration(request)
    #expect(kinds(registration.combinations) == [[.pin, .fingerprint], [.password]])
    let finger = try await device.aaid(.fingerprint)
    #expect(registration.combination(with: finger)?.map(\.authenticator.kind) == [.pin, .fingerprint])
    let alone = await uafFailure { _ = try await registration.register([try await enrolment(.fingerprint)]) }
    #expect(alone?.clientError == .noSuitableAuthenticator)
    let twice = await uafFailure {
      let pin = try await enrolment(.pin)
      _ = try await registration.register([pin, pin])
    }
    #expect(twice?.clientError == .noSuitableAuthenticator)

    let response = try await registration.register([
      try await enrolment(.fingerprint), try await enrolment(.pin),
    ])
    let verified = try party.accept(response, to: request)
    #expect(verified.keys.count == 2 && response.keys.count == 2)

    let question = party.authenticationRequest(
      policy: Policy(accepted: [
        [criterion(.pin, response.keys), criterion(.fingerprint, response.keys)]
      ]))
    let authentication = try await device.authentication(question)
    #expect(authentication.usernames == ["alice"])
    #expect(kinds(authentication.combinations(for: "alice")) == [[.pin, .fingerprint]])
    #expect(authentication.combinations(for: "bob").isEmpty)
    let answer = try await authentication.authenticate(
      response.keys.map { KeyUnlock(key: $0, authentication: UAFDevice.authentication($0.kind)) })
    #expect(try party.accept(answer, to: question).uses.map(\.signCounter) == [2, 2])
    let one = await uafFailure {
      _ = try await authentication.authenticate([
        KeyUnlock(key: response.keys[0], authentication: UAFDevice.authentication(response.keys[0].kind))
      ])
    }
    #expect(one?.clientError == .noSuitableAuthenticator)
  }

  @Test("if the second of two authenticators fails, the first leaves no key and no counter changes")
  func secondFails() async throws {
    let policy = Policy(accepted: [[criterion(.pin), criterion(.fingerprint)]])
    let request = party.registrationRequest(policy: policy)
    let registration = try await device.registration(request)
    device.fingerprint.queue(.failure(.mismatch))
    let enrolments = [try await enrolment(.pin), try await enrolment(.fingerprint)]
    let finger = enrolments[1].aaid
    #expect(
      await uafFailure { _ = try await registration.register(enrolments) } == .notRecognised(aaid: finger))
    #expect(try await device.client.keys().isEmpty)
    // A retry continues.
    let response = try await registration.register(enrolments)
    try party.accept(response, to: request)
    let question = party.authenticationRequest(policy: policy)
    let authentication = try await device.authentication(question)
    let uses = response.keys.map { KeyUnlock(key: $0, authentication: UAFDevice.authentication($0.kind)) }
    device.fingerprint.queue(.failure(.mismatch))
    #expect(
      await uafFailure { _ = try await authentication.authenticate(uses) } == .notRecognised(aaid: finger))
    let answer = try await authentication.authenticate(uses)
    #expect(try party.accept(answer, to: question).uses.map(\.signCounter) == [2, 2])
  }

  @Test("a registration that fails while creating keys removes the first key")
  func keystoreFails() async throws {
    let hardware = SimulatedHardware()
    let device = try UAFDevice(keystore: hardware)
    let policy = Policy(accepted: [
      [
        MatchCriteria(aaids: [UAFAuthenticatorModel.pin.aaid(inHardware: true)]),
        MatchCriteria(aaids: [UAFAuthenticatorModel.password.aaid(inHardware: true)]),
      ]
    ])
    let registration = try await device.registration(party.registrationRequest(policy: policy))
    var enrolments: [UAFEnrolment] = []
    for kind in [UAFAuthenticator.Kind.pin, .password] {
      enrolments.append(
        UAFEnrolment(aaid: try await device.aaid(kind), authentication: UAFDevice.authentication(kind)))
    }
    let first = try await device.register(.fingerprint, with: party)
    let locations = hardware.locationCount
    // The hardware has space for the first key, but after the count has begun, for no other.
    hardware.interruptCounting { hardware.fail(.sealing, with: .full) }
    _ = await uafFailure { _ = try await registration.register(enrolments) }
    #expect(try await device.client.keys() == [first] && hardware.locationCount == locations)
    let response = try await registration.register(enrolments)
    #expect(response.keys.count == 2)
  }

  @Test("the server's order is kept, and all authenticators that meet a criterion are offered")
  func order() async throws {
    var passcodes = MatchCriteria()
    passcodes.userVerification = .passcode
    passcodes.algorithms = [.p256DER]
    passcodes.assertionSchemes = ["UAFV1TLV"]
    let policy = Policy(accepted: [[criterion(.face)], [passcodes]])
    let registration = try await device.registration(party.registrationRequest(policy: policy))
    #expect(kinds(registration.combinations) == [[.face], [.pin], [.password], [.devicePasscode]])
    #expect(registration.candidates.filter(\.isPolicyCompliant).count == 4)
    #expect(registration.candidates.first { $0.authenticator.kind == .fingerprint }?.isUsable == false)
  }

  @Test("match criteria on keys, matcher protection and algorithms")
  func characteristics() async throws {
    let edits: [(String, (inout MatchCriteria) -> Void, Bool)] = [
      ("vendor", { $0.vendors = [UAFAuthenticatorModel.vendor] }, true),
      ("other vendor", { $0.vendors = [0xF1D0] }, false),
      ("software keys", { $0.keyProtection = .software }, true),
      ("hardware keys", { $0.keyProtection = .hardware }, false),
      ("matcher", { $0.matcherProtection = .software }, true),
      ("on chip", { $0.matcherProtection = .onChip }, false),
      ("internal", { $0.attachmentHint = .internal }, true),
      ("external", { $0.attachmentHint = .external }, false),
      ("display", { $0.display = .any }, true), ("hardware display", { $0.display = .hardware }, false),
      ("other algorithm", { $0.algorithms = [.rsaPSSRAW] }, false),
      ("other scheme", { $0.assertionSchemes = ["X"] }, false),
      ("surrogate", { $0.attestationTypes = [.basicFull, .basicSurrogate] }, true),
      ("full only", { $0.attestationTypes = [.basicFull] }, false),
      ("later version", { $0.authenticatorVersion = 2 }, false),
      ("this version", { $0.authenticatorVersion = 1 }, true),
    ]
    for (name, edit, isMet) in edits {
      var criteria = MatchCriteria()
      (criteria.algorithms, criteria.assertionSchemes) = ([.p256DER], ["UAFV1TLV"])
      edit(&criteria)
      let request = party.registrationRequest(policy: Policy(accepted: [[criteria]]))
      let failure = await uafFailure { _ = try await device.client.open(request.text) }
      #expect((failure == nil) == isMet, "\(name)")
    }
  }

  @Test("an authenticator already registered for the account is not offered again, one of another account is")
  func disallowedKeys() async throws {
    let key = try await device.register(.pin, with: party)
    let policy = Policy(accepted: UAFParty.anything.accepted, disallowed: [criterion(.pin, [key])])
    let registration = try await device.registration(party.registrationRequest(policy: policy))
    #expect(kinds(registration.combinations) == [[.password], [.fingerprint], [.face], [.devicePasscode]])
    let other = KeyID.random()
    let foreign = Policy(
      accepted: UAFParty.anything.accepted,
      disallowed: [MatchCriteria(aaids: [UAFAuthenticatorModel.pin.aaid(inHardware: false)], keyIDs: [other])]
    )
    let bob = try await device.registration(party.registrationRequest("bob", policy: foreign))
    #expect(bob.combinations.count == 5)
  }

  @Test("of several accounts the server's key ids or the user select one")
  func accounts() async throws {
    let alice = try await device.register(.pin, with: party)
    let bob = try await device.register(.pin, with: party, "bob")
    let finger = try await device.register(.fingerprint, with: party, "bob")
    let anybody = try await device.authentication(party.authenticationRequest())
    #expect(Set(anybody.usernames) == ["alice", "bob"])
    #expect(anybody.candidates.filter { $0.key != nil }.count == 3)
    #expect(
      anybody.candidates.filter { $0.key == nil }.map(\.authenticator.kind) == [
        .password, .face, .devicePasscode,
      ])
    #expect(Set(anybody.combinations(for: "bob").flatMap { $0.compactMap(\.key) }) == [bob, finger])
    #expect(anybody.combination(for: "alice", with: alice.aaid)?.first?.key == alice)
    #expect(anybody.combination(for: "alice", with: finger.aaid) == nil)
    let named = try await device.authentication(
      party.authenticationRequest(policy: Policy(accepted: [[criterion(.pin, [bob])]])))
    #expect(named.usernames == ["bob"])
    #expect(named.candidates.first { $0.key == alice }?.isPolicyCompliant == false)
    let failure = await uafFailure {
      _ = try await named.authenticate([KeyUnlock(key: alice, authentication: UAFDevice.authentication(.pin))]
      )
    }
    #expect(failure?.clientError == .noSuitableAuthenticator)
  }

  @Test("a key, a model and everything can be deregistered; missing keys are no error")
  func deregistration() async throws {
    var keys: [UAFKey] = []
    for kind in UAFAuthenticator.Kind.allCases { keys.append(try await device.register(kind, with: party)) }
    keys.append(try await device.register(.pin, with: party, "bob"))
    func deregister(_ targets: [DeregistrationRequest.Target], as client: UAFDevice) async throws -> Set<
      UAFKey
    > {
      guard
        case .deregistration(let request) = try await client.client.open(
          party.deregistrationRequest(targets).text)
      else { return [] }
      return Set(try await request.deregister())
    }
    let pin = UAFAuthenticatorModel.pin.aaid(inHardware: false)
    let unknown: [DeregistrationRequest.Target] = [
      .model(AAID(vendor: 1, model: 1)), .key(KeyReference(aaid: pin, keyID: KeyID.random())),
      .key(KeyReference(aaid: AAID(vendor: 1, model: 1), keyID: KeyID.random())),
    ]
    #expect(try await deregister(unknown, as: device).isEmpty)
    // A key of one model under the name of another is unknown.
    let id = try #require(Base64URL.decodePadded(keys[0].keyID).flatMap { KeyID($0) })
    let face = UAFAuthenticatorModel.face.aaid(inHardware: false)
    #expect(try await deregister([.key(KeyReference(aaid: face, keyID: id))], as: device).isEmpty)
    #expect(try await deregister([.key(KeyReference(aaid: pin, keyID: id))], as: device) == [keys[0]])
    #expect(try await deregister([.model(pin)], as: device) == [keys[5]])
    #expect(try await deregister([.model(pin)], as: device).isEmpty)
    // Another app of the same user cannot see it.
    let other = try device.opened(facetID: "linux:app-id:org.example.other")
    device.facets.set(
      FacetServer.answer(FacetServer.list([UAFDevice.facetID, "linux:app-id:org.example.other"])))
    #expect(try await other.client.keys().isEmpty)
    #expect(try await deregister([.everything], as: other).isEmpty)
    #expect(try await deregister([.everything], as: device) == Set(keys[1...4]))
    #expect(try await device.client.keys().isEmpty)
    #expect(try await deregister([.everything], as: device).isEmpty)
    #expect(try await deregister([.everything], as: UAFDevice(facets: device.facets)).isEmpty)
  }

  @Test("a server that deregisters everything removes only its own keys")
  func boundedDeregistration() async throws {
    let alice = try await device.register(.pin, with: party)
    let bob = try await device.register(.pin, with: party, "bob")
    for targets in [
      [DeregistrationRequest.Target.everything], [.model(UAFAuthenticatorModel.pin.aaid(inHardware: false))],
    ] {
      guard
        case .deregistration(let request) = try await device.client.open(
          party.deregistrationRequest(targets).text)
      else { throw UAFFailure.protocol(.unknown, "no deregistration") }
      #expect(try await request.deregister { _ in false }.isEmpty)
      #expect(try await Set(device.client.keys()) == [alice, bob])
    }
    guard
      case .deregistration(let request) = try await device.client.open(
        party.deregistrationRequest([.everything]).text)
    else { throw UAFFailure.protocol(.unknown, "no deregistration") }
    #expect(try await request.deregister { $0.username == "bob" } == [bob])
    #expect(try await device.client.keys() == [alice])
  }

  @Test("a local deletion removes a key at once and permanently")
  func localDeletion() async throws {
    let key = try await device.register(.pin, with: party)
    let kept = try await device.register(.fingerprint, with: party)
    try await device.client.delete(key)
    try await device.client.delete(key)
    #expect(try await device.client.keys() == [kept])
    let failure = await uafFailure { _ = try await device.client.protectionStatus(of: key) }
    #expect(failure?.clientError == .keyDisappearedPermanently)
    try await device.authenticate(kept, with: party)
  }
}

@Suite("UAF transactions")
struct UAFTransactionTests {
  private let device: UAFDevice
  private let party: UAFParty

  init() throws {
    device = try UAFDevice()
    party = try UAFParty()
  }

  private static func text(_ text: String) throws -> UAFTransaction {
    try #require(UAFTransaction(contentType: .text, content: Array(text.utf8)))
  }

  /// A color picture with a stated width.
  private static func picture(width: UInt32 = 4, saying: UInt32 = 4) throws -> UAFTransaction {
    let said = DisplayPNGCharacteristics(width: saying, height: 2, bitDepth: 8, colourType: 2)
    return try #require(UAFTestPicture(width, 2, colourType: 2).transaction(saying: said))
  }

  @Test("what is shown is what is signed", arguments: UAFAuthenticator.Kind.allCases)
  func text(kind: UAFAuthenticator.Kind) async throws {
    let key = try await device.register(kind, with: party)
    let transaction = try Self.text("Pay 12.50 EUR\nto Bob?")
    let request = party.authenticationRequest(transactions: [transaction])
    let authentication = try await device.authentication(request)
    #expect(
      authentication.transaction?.text == "Pay 12.50 EUR\nto Bob?"
        && authentication.transaction?.kind == .text)
    let response = try await authentication.authenticate([
      KeyUnlock(key: key, authentication: UAFDevice.authentication(kind))
    ])
    let use = try #require(try party.accept(response, to: request).uses.first)
    #expect(use.transaction == transaction)
  }

  @Test("a picture, and a text before a picture")
  func picture() async throws {
    let key = try await device.register(.pin, with: party)
    let picture = try Self.picture()
    let use = try await device.authenticate(key, with: party, transactions: [picture])
    #expect(use.transaction == picture)
    let text = try Self.text("Pay 1")
    let both = try await device.authentication(party.authenticationRequest(transactions: [picture, text]))
    #expect(both.transactions.map(\.kind) == [.png, .text] && both.transaction?.text == "Pay 1")
    #expect(
      try await device.authenticate(key, with: party, transactions: [picture, text]).transaction == text)
  }

  @Test(
    "content that cannot be displayed unchanged is refused",
    arguments: ["a\rb", "a\u{1B}[2Jb", "a\u{0}b", "a\u{8}b", "a\u{7F}", "a\r"])
  func hidden(text: String) async throws {
    try await device.register(.pin, with: party)
    let request = party.authenticationRequest(transactions: [try Self.text(text)])
    let failure = await uafFailure { _ = try await device.client.open(request.text) }
    #expect(failure?.clientError == .invalidTransactionContent && failure?.asmStatusCode == 4)
  }

  @Test("a malformed picture is skipped if a text can be shown")
  func wrongPicture() async throws {
    let key = try await device.register(.pin, with: party)
    let wrong = try Self.picture(saying: 5)
    let failure = await uafFailure {
      _ = try await device.client.open(party.authenticationRequest(transactions: [wrong]).text)
    }
    #expect(failure?.clientError == .invalidTransactionContent)
    let text = try Self.text("Pay 1\r\nnow")
    #expect(try await device.authenticate(key, with: party, transactions: [wrong, text]).transaction == text)
  }

  @Test("of several forms the first displayable one is shown")
  func otherForms() async throws {
    let key = try await device.register(.pin, with: party)
    let small = try #require(UAFTestPicture(8, 8).transaction())
    let large = try #require(UAFTestPicture(1280, 800, colourType: 2).transaction())
    let huge = try #require(UAFTestPicture(1281, 8).transaction())
    var moving = UAFTestPicture(8, 8)
    moving.edit = { $0.insert(("acTL", [0, 0, 0, 2, 0, 0, 0, 0]), at: 1) }
    var cut = UAFTestPicture(8, 8)
    cut.edit = { $0[1].data.removeSubrange(($0[1].data.count / 2)...) }
    let bad = try [
      huge, #require(moving.transaction()), #require(cut.transaction()), Self.picture(saying: 5),
    ]
    for (forms, shown) in [
      ([small, large], small), ([large, small], large), (bad + [large, small], large),
      (bad + [try Self.text("Pay 1")], try Self.text("Pay 1")),
    ] {
      let authentication = try await device.authentication(party.authenticationRequest(transactions: forms))
      #expect(authentication.transactions.count == forms.count)
      #expect(authentication.transaction?.bytes == shown.content)
      #expect(try await device.authenticate(key, with: party, transactions: forms).transaction == shown)
    }
    for forms in [bad] + bad.map({ [$0] }) {
      let failure = await uafFailure {
        _ = try await device.client.open(party.authenticationRequest(transactions: forms).text)
      }
      #expect(failure?.clientError == .invalidTransactionContent && failure?.asmStatusCode == 4)
    }
    // The counter has the value of the last success.
    #expect(try await device.authenticate(key, with: party).signCounter == 6)
  }

  @Test("a transaction that breaks the rules of the protocol")
  func malformed() async throws {
    try await device.register(.pin, with: party)
    for (type, content) in [
      ("text/plain", String(repeating: "a", count: 201)), ("text/html", "a"), ("text/plain", ""),
    ] {
      var object = party.authenticationRequest().json
      object["transaction"] = [
        ["contentType": .string(type), "content": .string(Base64URL.encode(Array(content.utf8)))]
      ]
      let text = "[\(object.text)]"
      let failure = await uafFailure { _ = try await device.client.open(text) }
      #expect(failure?.clientError == .protocolError, "\(type)")
    }
  }
}
