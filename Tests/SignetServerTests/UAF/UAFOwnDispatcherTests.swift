import PushFixture
import SignetJSON
import SignetProtocol
import SignetPush
import SignetServer
import SignetStorage
import SignetTesting
import SignetUAF
import Synchronization
import Testing
import UAFFixture

/// Tokens through an operator's own dispatcher, which gets the messages for ``PushTarget/webhook(address:)``.
@Suite(.timeLimit(.minutes(10))) struct UAFOwnDispatcherTests {
  /// A dispatcher that records its messages and ends as the test demands.
  private final class OwnWay: PushDispatcher {
    private struct Values: Sendable {
      var sent: [(message: PushMessage, address: String)] = []
      var failure: PushFailure?
    }

    private let values = Mutex(Values())
    let service = PushTarget.Service.webhook

    func fail(_ failure: PushFailure?) { values.withLock { $0.failure = failure } }

    /// Returns the messages dispatched since the last call.
    func sent() -> [(message: PushMessage, address: String)] {
      values.withLock { values in
        defer { values.sent = [] }
        return values.sent
      }
    }

    func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
      guard case .webhook(let address) = target else { throw .targetNotAllowed }
      let failure = values.withLock { values in
        values.sent.append((message, address))
        return values.failure
      }
      if let failure { throw failure }
    }
  }

  private static let name = "webhook"

  private func server(_ way: some PushDispatcher, _ clock: VirtualClock = VirtualClock()) async throws
    -> UAFServer
  {
    try await UAFServer(
      [UAFTestKey()], clock: clock, push: PushSetup(delivery: PushDelivery([way], clock: clock)))
  }

  private func dispatch(
    _ server: UAFServer, _ device: UAFTestDevice?, _ more: JSONObject = [:]
  ) async throws -> JSONObject {
    var body: JSONObject = ["getUafRequest": ["op": "Reg", "context": #"{"username":"alice"}"#]]
    if let device { body["dispatchTargetId"] = .string(device.target) }
    for (name, value) in more.members { body[name] = value }
    return try await server.json("/token/dispatch/registration", body)
  }

  @Test("a token is sent encrypted to the device's address and registers")
  func sends() async throws {
    let way = OwnWay()
    let server = try await server(way)
    let device = try await UAFTestDevice(on: server, dispatcher: Self.name)
    let sent = try await dispatch(server, device)
    #expect(try sent.string("dispatchResult") == "dispatched")
    #expect(try sent.object("dispatcherInformation") == ["name": .string(Self.name)])
    let handed = way.sent()
    try #require(handed.count == 1)
    #expect(handed[0].address == "address:1" && handed[0].message.expires == server.clock.now + 300)
    let payload: JSONObject = [
      "nma_data": .string(handed[0].message.envelope), "nma_data_content_type": "application/jose",
      "nma_data_version": "1",
    ]
    let opened = try device.opened(payload)
    #expect(try opened.string("token") == sent.string("token"))
    #expect(try opened.string("redeem_url").hasSuffix("/token/redeem/registration"))
    let redeemed = try await server.json(
      "/token/redeem/registration", ["token": .string(try opened.string("token"))], isOrdered: false)
    #expect(try redeemed.integer("statusCode") == 1200)
    let report = try await server.json("/status", ["sessionId": .string(try sent.string("sessionId"))])
    let token = try report.object("tokenInformation")
    #expect(try token.object("dispatcherInformation").string("name") == Self.name)
  }

  @Test("nothing is sent unencrypted or without an address")
  func keepsSilent() async throws {
    let way = OwnWay()
    let server = try await server(way)
    let open = try await UAFTestDevice(on: server, isEncrypted: false, dispatcher: Self.name)
    #expect(try await dispatch(server, open).string("dispatchResult") == "dispatchError")
    let nowhere = try await dispatch(server, nil, ["dispatcher": .string(Self.name)])
    #expect(try nowhere.string("dispatchResult") == "dispatchTargetNotFound")
    #expect(way.sent().isEmpty)
  }

  @Test("a removed address is deleted; a failed delivery keeps the token")
  func tellsTheEnd() async throws {
    let way = OwnWay()
    let server = try await server(way)
    let device = try await UAFTestDevice(on: server, dispatcher: Self.name)
    way.fail(.refused(reason: "no"))
    let failed = try await dispatch(server, device)
    #expect(try failed.string("dispatchResult") == "dispatchError")
    let redeemed = try await server.json(
      "/token/redeem/registration", ["token": .string(try failed.string("token"))], isOrdered: false)
    #expect(try redeemed.integer("statusCode") == 1200)
    way.fail(.targetGone)
    #expect(try await dispatch(server, device).string("dispatchResult") == "dispatchTargetExpired")
    #expect(try await server.storage.uafTarget("\(device.target)")?.sealedTarget == nil)
    _ = way.sent()
    way.fail(nil)
    #expect(try await dispatch(server, device).string("dispatchResult") == "dispatchTargetNotFound")
    #expect(way.sent().isEmpty)
  }

  @Test("a dispatcher that is not configured is refused, for tokens and for devices")
  func isNotThere() async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    for name in [Self.name, "pigeon", ""] {
      let sent = try await dispatch(server, device, ["dispatcher": .string(name)])
      #expect(try sent.string("dispatchResult") == "dispatcherNotFound", "\(name)")
      let jws = try device.jws(at: server.clock.now, ["dispatcher": .string(name)])
      #expect(try await server.change("/devices/d1", jws).refusal == "422 dispatcherUnavailable", "\(name)")
    }
  }

  @Test(
    "the operator's gateway gets a signed request with the address and the encrypted token",
    .enabled(
      if: PushServices.isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func gateway() async throws {
    let services = try PushServices()
    let clock = VirtualClock()
    let way = WebhookDispatcher(
      url: "\(services.base)/gateway", signature: MessageSignature(services.signingKey, keyID: "server-1"),
      over: services.transport, clock: clock)
    let server = try await server(way, clock)
    let device = try await UAFTestDevice(on: server, dispatcher: Self.name)
    let sent = try await dispatch(server, device)
    #expect(try sent.string("dispatchResult") == "dispatched")
    let request = try #require(try services.requests().first { try $0.field(":path") == "/gateway" })
    let body = try request.checked().object("body")
    #expect(try body.string("address") == "address:1")
    let payload: JSONObject = [
      "nma_data": .string(try body.string("message")), "nma_data_content_type": "application/jose",
      "nma_data_version": "1",
    ]
    #expect(try device.opened(payload).string("token") == sent.string("token"))
  }
}
