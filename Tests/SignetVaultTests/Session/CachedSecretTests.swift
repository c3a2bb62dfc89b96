import SignetCrypto
import SignetTesting
import SignetVault
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct CachedSecretTests {
  private let clock = VirtualTrustedClock()
  private let reasons = Recorder<LockReason>()

  private func made() -> CachedSecret<SecretBytes> {
    let reasons = reasons
    return CachedSecret(clock: clock) { reasons.record($0) }
  }

  private static let limits = SessionLimits(idleTimeout: .seconds(10), maximumAge: .seconds(60))

  @Test("an empty cache has no secret")
  func empty() {
    let kept = made()
    #expect(kept.withSecret { $0.byteCount } == nil)
    #expect(!kept.wasTaken())
    #expect(kept.reason == .notUnlocked)
    kept.wipe(because: .requested)
    #expect(kept.reason == .notUnlocked)
    #expect(reasons.entries.isEmpty)
  }

  @Test("a secret is available until a limit is reached, and each use restarts idleness")
  func limits() {
    let kept = made()
    kept.keep(SecretBytes("key"), limits: Self.limits)
    for _ in 0..<6 {
      #expect(kept.withSecret { $0.byteCount } == 3)
      clock.advance(by: .seconds(9))
    }
    #expect(kept.withSecret { $0.byteCount } == 3)
    clock.advance(by: .seconds(6))
    #expect(kept.withSecret { $0.byteCount } == nil)
    #expect(kept.reason == .tooOld)
    #expect(reasons.entries == [.tooOld])
  }

  @Test("a query for the secret is not a use")
  func looking() {
    let kept = made()
    kept.keep(SecretBytes("key"), limits: Self.limits)
    clock.advance(by: .seconds(9))
    #expect(kept.reason == nil)
    clock.advance(by: .seconds(1))
    #expect(kept.reason == .idle)
  }

  @Test("a secret is taken once: one of 50 tasks gets it")
  func taking() async {
    let kept = made()
    kept.keep(SecretBytes("key"), limits: Self.limits)
    let winners = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { kept.wasTaken() } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 1)
    #expect(kept.reason == .used)
  }

  @Test("a request, sleep and a changed clock wipe the secret; a new one can be stored")
  func wiping() {
    let kept = made()
    let causes: [(LockReason, () -> Void)] = [
      (.screenLocked, { kept.wipe(because: .screenLocked) }), (.suspended, { clock.sleep(for: .seconds(2)) }),
      (.clockJumped, { clock.adjustWallClock(by: -3600) }), (.clockJumped, { clock.rewind(by: .seconds(1)) }),
      (.clockJumped, { clock.reboot(uptime: .seconds(90_000)) }),
    ]
    for (reason, happen) in causes {
      kept.keep(SecretBytes("key"), limits: Self.limits)
      #expect(kept.reason == nil)
      happen()
      #expect(kept.withSecret { $0.byteCount } == nil)
      #expect(kept.reason == reason)
    }
    #expect(reasons.entries == causes.map(\.0))
  }

  @Test("a lock while it was opened is not lost: it is wiped instead of kept")
  func lockedMeanwhile() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: [UInt8](repeating: 0xA5, count: 16))
    let kept = made()
    let beginning = kept.beginning
    kept.wipe(because: .screenLocked)
    let refusal = kept.keep(SecretBytes(borrowing: buffer), limits: Self.limits, since: beginning)
    #expect(refusal == .screenLocked)
    #expect(buffer.allSatisfy { $0 == 0 })
    #expect(kept.withSecret { $0.byteCount } == nil)
    let again = kept.keep(SecretBytes("key"), limits: Self.limits, since: kept.beginning)
    #expect(again == nil && kept.reason == nil)
  }

  @Test("a secret expires without being read")
  func guardian() async throws {
    // The only test that waits for the real clock: it ends when the secret is wiped, and hangs otherwise.
    let (ends, end) = AsyncStream.makeStream(of: LockReason.self)
    let kept = try CachedSecret<SecretBytes>(clock: SystemTrustedClock()) { end.yield($0) }
    kept.keep(SecretBytes("key"), limits: SessionLimits(idleTimeout: nil, maximumAge: .seconds(1)))
    for await reason in ends {
      #expect(reason == .tooOld)
      break
    }
    #expect(!kept.wasTaken())
  }

  @Test("the bytes are overwritten when the secret is wiped, taken and dropped, or deallocated")
  func memory() {
    for end in 0..<4 {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
      defer { buffer.deallocate() }
      buffer.copyBytes(from: [UInt8](repeating: 0xA5, count: 16))
      var kept: CachedSecret<SecretBytes>? = made()
      kept?.keep(SecretBytes(borrowing: buffer), limits: Self.limits)
      #expect(buffer.allSatisfy { $0 == 0xA5 })
      switch end {
      case 0: kept?.wipe(because: .requested)
      case 1: _ = kept?.take()
      case 2: kept?.keep(SecretBytes("other"), limits: Self.limits)
      default: kept = nil
      }
      #expect(buffer.allSatisfy { $0 == 0 }, "\(end)")
    }
  }
}

extension CachedSecret where Secret: ~Copyable {
  /// Takes the secret and drops it; returns whether there was one.
  fileprivate func wasTaken() -> Bool {
    switch take() {
    case .some: true
    case .none: false
    }
  }
}
