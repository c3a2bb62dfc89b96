import SignetCrypto
import SignetOATH
import SignetProtocol
import SignetServer
import SignetStorage
import Synchronization
import Testing

/// Each value that must not be guessed has the number of random bits given in docs/threat-model.md.
@Suite(.timeLimit(.minutes(10))) struct RandomBitsTests {
  /// The system's random bytes, recorded.
  private final class WrittenDown: RandomSource {
    private let drawn = Mutex<[[UInt8]]>([])

    func bytes(_ count: Int) -> [UInt8] {
      let bytes = SystemRandomSource().bytes(count)
      drawn.withLock { $0.append(bytes) }
      return bytes
    }

    /// Returns whether one draw consisted of exactly these bytes.
    func contains(_ bytes: [UInt8]) -> Bool { drawn.withLock { $0.contains(bytes) } }
  }

  @Test("an invite has 10 random bytes; an API key, the secret of a client and an auth_req_id have 32 each")
  func made() async throws {
    let random = WrittenDown()
    let fixture = try await OpenIDFixture(random: random)
    let invite = try await fixture.server.invite("bob").invite
    let typed = try CrockfordBase32.decode(invite.typedForm, byteCount: 10, withCheckSymbol: true)
    #expect(random.contains(typed))
    let key = try await fixture.server.keys.create(name: "shop", scopes: [.relyingParty], by: .local)
    let client = try await fixture.register(.poll, .clientSecretBasic)
    let secrets = [
      String(try #require(key.text.split(separator: "_", maxSplits: 2).last)), try #require(client.secret),
      try await fixture.ask(client).id,
    ]
    for secret in secrets {
      let bytes = try Base64URL.decode(secret)
      #expect(bytes.count == 32 && random.contains(bytes))
    }
  }
}
