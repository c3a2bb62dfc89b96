import SignetCrypto
import SignetUAF
import Testing
import UAFFixture

/// The model of an attestation certificate, and the usage of its key.
@Suite struct AttestationCertificateTests {
  private let root: UAFTestCertificate
  private let other = AAID(vendor: 0x7357, model: 2)
  private let aaid = UAFTestKey().aaid

  init() throws { root = try UAFTestCertificate("Root", extensions: [.authority]) }

  /// Verifies a registration with a certificate at a server with some models.
  ///
  /// - Parameters:
  ///   - extensions: The certificate's extensions.
  ///   - others: The trusted certificates of another model at the server.
  ///   - intermediate: The issuer of the certificate; `nil` for the root.
  /// - Throws: Errors other than the rejection of an assertion.
  /// - Returns: The reason of the first rejected assertion; `nil` if there is none.
  private func reason(
    _ extensions: [UAFTestCertificate.Extension], others: [[UInt8]] = [],
    intermediate: UAFTestCertificate? = nil
  ) throws -> AssertionRefusal? {
    let leaf = try UAFTestCertificate("Leaf", issuer: intermediate ?? root, extensions: extensions)
    var maker = MessageMaker(.registration)
    maker.key.attester = .certified(leaf.key, [leaf.der] + (intermediate.map { [$0.der] } ?? []))
    var expectation = try maker.registrationExpectation(roots: [root.der])
    var models = [try AuthenticatorModel(maker.key.statement(roots: [root.der]))]
    if !others.isEmpty {
      models.append(try AuthenticatorModel(UAFTestKey(aaid: other).statement(roots: others)))
    }
    expectation.context.models = AuthenticatorModels(models)
    do {
      #expect(try expectation.verify(maker.registration()).keys.first?.attestation == .basicFull)
      return nil
    } catch let refusal as UAFRefusal {
      #expect(refusal.status == .unacceptableAttestation)
      guard case .assertions(let refused) = refusal else { throw refusal }
      return refused.first?.reason
    }
  }

  @Test("a certificate that names a model is valid for that model only") func named() throws {
    let text = Array(aaid.text.utf8)
    for good in [text, [0x04, 9] + text, [0x0C, 9] + text, [0x13, 9] + text, [0x16, 9] + text] {
      #expect(try reason([.model(good)]) == nil)
      #expect(try reason([.model(good)], others: [root.der]) == nil)
    }
    let foreign = Array(other.text.utf8)
    for bad in [
      foreign, [0x04, 9] + foreign, [], [0x04, 0], text.dropLast(), [0x05, 9] + text, [0x04, 8] + text,
      [0x04, 9] + text + [0],
    ] as [[UInt8]] {
      #expect(try reason([.model(bad)]) == .certificateModel)
      #expect(try reason([.model(bad)], others: [root.der]) == .certificateModel)
    }
    // With two names, each has to be right.
    #expect(try reason([.model(text), .model(foreign)]) == .certificateModel)
    #expect(try reason([.model(foreign), .model(text)]) == .certificateModel)
  }

  @Test("a certificate without a model is refused if its chain belongs to another model") func shared()
    throws
  {
    let stranger = try UAFTestCertificate("Root", extensions: [.authority])
    #expect(try reason([]) == nil)
    #expect(try reason([], others: [stranger.der]) == nil)
    #expect(try reason([], others: [root.der]) == .certificateModelMissing)
    #expect(try reason([], others: [stranger.der, root.der]) == .certificateModelMissing)
    // The other model trusts an intermediate certificate that the first model's root has issued.
    let between = try UAFTestCertificate("Between", issuer: root, extensions: [.authority])
    #expect(try reason([], others: [stranger.der], intermediate: between) == nil)
    #expect(try reason([], others: [between.der], intermediate: between) == .certificateModelMissing)
    #expect(
      try reason([.model(Array(aaid.text.utf8))], others: [between.der], intermediate: between) == nil)
  }

  @Test("a certificate with key usage must allow signatures") func usage() throws {
    #expect(try reason([.usage(0x80)]) == nil)
    #expect(try reason([.usage(0xC0)]) == nil)
    for bits in [0x40, 0x20, 0x10, 0x08, 0x04] as [UInt8] {
      #expect(try reason([.usage(bits)]) == .certificateUsage)
    }
  }

  @Test("a CA certificate is refused as attestation certificate") func authority() throws {
    #expect(try reason([.authority]) == .certificateAuthority)
    #expect(try reason([.authority, .usage(0x84)]) == .certificateAuthority)
    // keyCertSign in addition to digitalSignature, without the authority extension.
    #expect(try reason([.usage(0x84)]) == .certificateAuthority)
    // An authority in the model's metadata is no attestation certificate either.
    var maker = MessageMaker(.registration)
    maker.key.attester = .certified(root.key, [root.der])
    let refusal = #expect(throws: UAFRefusal.self) {
      try maker.registrationExpectation(roots: [root.der]).verify(maker.registration())
    }
    guard case .assertions(let refused)? = refusal else {
      Issue.record("another case")
      return
    }
    #expect(refused.first?.reason == .certificateAuthority)
  }

  @Test("inspecting a message with metadata checks the model name too") func inspection() throws {
    let now = CertificateAuthority.currentUnixTime()
    for (name, isValid) in [(aaid, true), (other, false)] {
      let leaf = try UAFTestCertificate("Leaf", issuer: root, extensions: [.model(Array(name.text.utf8))])
      var key = UAFTestKey()
      key.attester = .certified(leaf.key, [leaf.der])
      let bytes = try key.registrationAssertion(key.registrationElements([UInt8](repeating: 1, count: 32)))
      let model = try AuthenticatorModel(key.statement(roots: [root.der]))
      let found = try Inspection(assertion: bytes).assertions.flatMap {
        $0.objections(against: model, at: now)
      }
      #expect(found == (isValid ? [] : ["the attestation certificate is for another model"]))
    }
  }
}
