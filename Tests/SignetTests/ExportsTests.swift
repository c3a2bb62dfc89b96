import Signet
import SignetServerTesting
import Testing

/// The names that an app gets with `import Signet` alone: this file imports no other module of ours, and the test is that it
/// compiles.
@Suite struct ExportsTests {
  @Test("push targets are created and lists of them read")
  func pushes() throws {
    let key = P256.KeyAgreement.PrivateKey().publicKey
    let subscription = try WebPushSubscription(
      endpoint: "https://push.example.net/x", key: key, secret: [UInt8](repeating: 1, count: 16))
    let targets: [PushTarget] = [
      .apns(token: [1]), .fcm(token: "t"), .webPush(subscription), .webhook(address: "a"),
    ]
    #expect(Set(targets.map(\.service)) == Set(PushTarget.Service.allCases))
    let entry = PushTargetList.Entry(
      id: PushTargetID("AAAAAAAAAAAAAAAAAAAAAA"), name: "Phone", target: targets[0], created: 1)
    let list = PushTargetList(targets: [entry], services: [.apns], webPushKey: nil)
    #expect(list.targets.map(\.name) == ["Phone"])
    #expect(throws: WireFailure.self) {
      try WebPushSubscription(endpoint: "http://push.example.net/x", key: key, secret: [])
    }
  }

  @Test("accounts are read, and what was skipped is named")
  func accounts() throws {
    let imported: ImportedAccounts = try AccountFile.read(
      Array("otpauth://totp/A:a?secret=GEZDGNBV\notpauth://totp/B:b?secret=!".utf8))
    let skipped: [SkippedAccount] = imported.skipped
    #expect(imported.accounts.count == 1 && skipped.map(\.position) == [2])
    guard case .secret(let failure) = skipped[0].reason else {
      Issue.record("\(skipped[0].reason)")
      return
    }
    let reason: Base32Failure = failure
    #expect(!reason.description.isEmpty)
    do { _ = try AccountFile.read(Array("{".utf8)) } catch InterchangeFailure.json(let failure) {
      let reason: JSONFailure = failure
      #expect(!reason.description.isEmpty)
    }
  }

  /// A clock of an app.
  private struct Clock: TrustedClock {
    var now: TrustedTime {
      TrustedTime(
        boot: BootInstant(bootID: BootID(high: 1, low: 2), millisecondsSinceBoot: 5), millisecondsAwake: 4,
        wallSeconds: 3)
    }
  }

  @Test("an app can supply its own clock and connection")
  func seams() {
    #expect(Clock().now.boot.millisecondsSinceBoot == 5)
    let version: HTTPVersion = .http2
    #expect(ConnectionConfiguration(version: version).version == version)
  }
}
