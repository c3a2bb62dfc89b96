import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetProtocol
import Testing

@Suite("Messages about accounts")
struct AccountMessageTests {
  private let key = P256.Signing.PrivateKey()
  private let other = P256.Signing.PrivateKey()
  private let address: ListAddress
  private let condition: DeviceStatus

  init() throws {
    address = ListAddress(
      server: try ServerURL("signet.example.com/main"), container: try ContainerID("c1"),
      request: [UInt8](repeating: 3, count: 16))
    condition = DeviceStatus(
      revision: 7, challenge: [UInt8](repeating: 5, count: 16),
      policies: try AccountPolicySet(["deviceTampering": ["score": 0.8], "mine": .null]), compliance: .locked,
      reason: "reported lost",
      orders: try DeviceCommand.Action.allCases.map {
        try DeviceCommand(id: DeviceCommandID($0.rawValue), action: $0, reason: "why")
      })
  }

  @Test("a status is signed by the server for one request of one container")
  func aCondition() throws {
    let jws = try condition.signed(for: address, by: key)
    let signed = try SignedDeviceStatus(jws)
    #expect(signed.signer == key.publicKey.thumbprint)
    #expect(try signed.condition(signedBy: key.publicKey, for: address) == condition)
    #expect(throws: WireFailure.notAuthentic) {
      try signed.condition(signedBy: other.publicKey, for: address)
    }
    for wrong in [
      ListAddress(
        server: try ServerURL("signet.example.com/other"), container: address.container,
        request: address.request),
      ListAddress(server: address.server, container: try ContainerID("c2"), request: address.request),
      ListAddress(
        server: address.server, container: address.container, request: [UInt8](repeating: 4, count: 16)),
    ] {
      #expect(throws: WireFailure.notAuthentic) {
        try signed.condition(signedBy: key.publicKey, for: wrong)
      }
    }
    let list = try TransactionList([]).sealed(
      for: address, by: key, to: P256.KeyAgreement.PrivateKey().publicKey)
    for broken in ["", "a.b.c", list, String(jws.dropLast(4))] {
      #expect(throws: WireFailure.self) {
        try SignedDeviceStatus(broken).condition(signedBy: key.publicKey, for: address)
      }
    }
  }

  @Test("a report is signed by the container")
  func aReport() async throws {
    var evidence = AccountEvidence()
    (evidence.tamperScore, evidence.flavour) = (0.5, "release")
    var lock = AccountLock()
    try lock.lock(reason: "lent", at: 4)
    let report = PostureReport(
      container: address.container, server: address.server, device: [UInt8](repeating: 7, count: 16),
      challenge: condition.challenge, time: 1_795_231_200, revision: 6, evidence: evidence, lock: lock)
    let jws = try await report.signed { try key.signature(for: $0) }
    #expect(PostureReport.verified(jws, with: key.publicKey) == report)
    #expect(PostureReport.verified(jws, with: other.publicKey) == nil)
    let receipt = try await receipt(.lock).signed { try key.signature(for: $0) }
    for broken in ["", "a.b.c", receipt] {
      #expect(PostureReport.verified(broken, with: key.publicKey) == nil)
    }
  }

  @Test("a receipt is signed by the container")
  func aReceipt() async throws {
    let body = { (text: String) in JSONObject(dictionaryLiteral: ("receipt", .string(text))).bytes }
    for action in DeviceCommand.Action.allCases {
      let receipt = try receipt(action)
      let jws = try await receipt.signed { try key.signature(for: $0) }
      let signed = try SignedCommandAcknowledgement(parsing: body(jws))
      #expect(signed.container == address.container && signed.jws == jws)
      #expect(signed.receipt(verifiedWith: key.publicKey) == receipt)
      #expect(signed.receipt(verifiedWith: other.publicKey) == nil)
    }
    let notice = try await MessageSample.endNotice().signed { try key.signature(for: $0) }
    for broken in ["", "a.b.c", notice] {
      #expect(throws: WireFailure.self) { try SignedCommandAcknowledgement(parsing: body(broken)) }
    }
  }

  @Test("a reason is short and has no hidden characters")
  func reasons() throws {
    for good in ["", "lost", String(repeating: "é", count: 200)] {
      #expect(try DeviceCommand(id: DeviceCommandID("o"), action: .lock, reason: good).reason == good)
    }
    for bad in [String(repeating: "x", count: 201), "two\nlines", "\u{1B}[2J", "\u{202E}reversed"] {
      #expect(throws: WireFailure.self) {
        try DeviceCommand(id: DeviceCommandID("o"), action: .lock, reason: bad)
      }
    }
  }

  @Test("a profile with account policies, and one with malformed ones")
  func profiles() throws {
    var profile = ContainerProfile(protection: .device, totp: .standard)
    #expect(!profile.json.contains("policies"))
    profile.accountPolicies = condition.policies
    #expect(try ContainerProfile(profile.json) == profile)
    var json = profile.json
    for bad in [5, ["": [:]], .array([])] as [JSONValue] {
      json["policies"] = bad
      #expect(throws: WireFailure.self) { try ContainerProfile(json) }
    }
    for isWanted in [true, false] {
      let list = TransactionList([], isReportRequested: isWanted)
      #expect(try TransactionList(parsing: list.bytes) == list)
    }
  }

  private func receipt(_ action: DeviceCommand.Action) throws -> CommandAcknowledgement {
    CommandAcknowledgement(
      container: address.container, server: address.server, device: [UInt8](repeating: 7, count: 16),
      order: try DeviceCommandID("o1"), action: action, time: 1_795_231_200)
  }
}
