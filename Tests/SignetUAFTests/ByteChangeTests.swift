import SignetCrypto
import SignetUAF
import Testing
import UAFFixture

/// Changes of every byte of an assertion: rejected, or in a part that is neither signed nor trusted.
@Suite struct ByteChangeTests {
  private static let changes: [UInt8] = [0x01, 0x20, 0x80, 0xFF]

  @Test("a registration by surrogate, raw and in DER", arguments: [false, true])
  func surrogate(isDER: Bool) throws {
    var maker = MessageMaker(.registration)
    maker.key = UAFTestKey(isDER: isDER)
    let expectation = try maker.registrationExpectation()
    try change(maker.registrationAssertion(), unsigned: 0..<0) { bytes throws(UAFRefusal) in
      _ = try expectation.verify(maker.response(bytes))
    }
  }

  @Test("a registration with a certificate") func certified() throws {
    let now: Int64 = 1_800_000_000
    let authority = try UAFTestAuthority(at: now)
    var maker = MessageMaker(.registration)
    maker.key.attester = try authority.attester(at: now)
    let expectation = try maker.registrationExpectation(roots: [authority.root], unixTime: now)
    try change(maker.registrationAssertion(), unsigned: 0..<0) { bytes throws(UAFRefusal) in
      _ = try expectation.verify(maker.response(bytes))
    }
  }

  @Test("an authentication, raw and in DER", arguments: [false, true])
  func authentication(isDER: Bool) throws {
    var maker = MessageMaker(.authentication)
    maker.key = UAFTestKey(isDER: isDER)
    let expectation = try maker.authenticationExpectation()
    try change(maker.authenticationAssertion(), unsigned: 0..<0) { bytes throws(UAFRefusal) in
      _ = try expectation.verify(maker.response(bytes))
    }
  }

  @Test("the content of an unsigned extension is not used") func unsigned() throws {
    var maker = MessageMaker(.authentication)
    let item = Spoiled.element(of: .ignorableExtension)
    maker.parts = { $0.append(item) }
    let expectation = try maker.authenticationExpectation()
    let bytes = try maker.authenticationAssertion()
    let count = UAFTestKey.encode(item).count
    try change(bytes, unsigned: (bytes.count - count)..<bytes.count) { bytes throws(UAFRefusal) in
      let verified = try expectation.verify(maker.response(bytes))
      #expect(verified.uses.map(\.reference) == [maker.key.reference])
      #expect(verified.uses.allSatisfy { $0.extensions.isEmpty })
    }
  }

  /// Changes each byte in several ways; all changes outside `unsigned` have to be rejected.
  private func change(
    _ assertion: [UInt8], unsigned: Range<Int>, _ verify: ([UInt8]) throws(UAFRefusal) -> Void
  ) throws {
    try verify(assertion)
    for index in assertion.indices {
      for change in Self.changes {
        var bytes = assertion
        bytes[index] ^= change
        do throws(UAFRefusal) {
          try verify(bytes)
          #expect(unsigned.contains(index), "byte \(index) ^ \(change) is accepted")
        } catch {
          let place = Place(of: index, in: assertion)
          #expect(
            place.statuses.contains(error.status), "byte \(index) ^ \(change), \(place): \(error.status)")
        }
      }
    }
  }

  /// The location of a byte: in the content of an element, or in its tag or length.
  private struct Place: CustomStringConvertible {
    let tag: TLVTag
    let isContent: Bool

    init(of index: Int, in bytes: [UInt8]) {
      var (tag, start, end) = (TLVTag(rawValue: 0), 0, bytes.count)
      while true {
        tag = TLVTag(rawValue: UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8)
        let next = start + 4 + Int(bytes[start + 2]) + Int(bytes[start + 3]) << 8
        if index >= next {
          start = next
        } else if index < start + 4 || !tag.isComposite || tag == .ignorableExtension {
          break
        } else {
          (start, end) = (start + 4, min(end, next))
        }
      }
      (self.tag, isContent) = (tag, index >= start + 4)
    }

    var description: String { isContent ? "in \(tag)" : "before \(tag)" }

    /// The statuses that a server may return for a changed byte here.
    var statuses: Set<UAFStatus> {
      // It is then unreadable, or attests in another way.
      guard isContent else { return [.unacceptableContent, .unacceptableAttestation] }
      switch tag {
      case .aaid: return [.unknownAAID, .unacceptableContent]
      case .assertionInfo:
        return [
          .unacceptableContent, .unacceptableAlgorithm, .unacceptableKey, .unacceptableAttestation,
        ]
      // Inside an unsigned extension, only the form can be wrong.
      case .finalChallengeHash, .ignorableExtension: return [.unacceptableContent]
      case .keyID: return [.unknownKeyID, .unacceptableAttestation]
      case .publicKey: return [.unacceptableKey, .unacceptableAttestation]
      case .attestationCertificate: return [.unacceptableAttestation]
      case .counters, .signature, .authenticatorNonce:
        return [.unacceptableContent, .unacceptableAttestation]
      default: return []
      }
    }
  }
}
