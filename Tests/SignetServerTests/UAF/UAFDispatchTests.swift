import Foundation
import PushFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetImages
import SignetJSON
import SignetProtocol
import SignetPush
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// The dispatch of tokens to devices.
@Suite(.timeLimit(.minutes(10))) struct UAFDispatchTests {
  private static let order: JSONObject = ["op": "Reg", "context": #"{"username":"alice"}"#]

  private func dispatch(
    _ server: UAFServer, _ device: UAFTestDevice?, _ more: JSONObject = [:]
  ) async throws -> JSONObject {
    var body: JSONObject = ["getUafRequest": .object(Self.order)]
    if let device { body["dispatchTargetId"] = .string(device.target) }
    for (name, value) in more.members { body[name] = value }
    return try await server.json("/token/dispatch/registration", body)
  }

  // MARK: Pictures and links

  /// The payload in a link.
  private func payload(in link: String, _ prefix: String) throws -> JSONObject {
    let start = "\(prefix)?dispatchTokenResponse="
    #expect(link.hasPrefix(start))
    return try JSONObject(parsing: Base64URL.decode(String(link.dropFirst(start.count))))
  }

  private func text(ofPicture base64: String) throws -> String {
    let bytes = Array(try #require(Data(base64Encoded: base64)))
    return try #require(QRReader.texts(inPNG: bytes).first)
  }

  @Test(
    "each dispatcher except push, with and without a device",
    arguments: ["link", "png-qr-code", "link-png-qr-code"])
  func sends(_ dispatcher: String) async throws {
    let server = try await UAFServer(UAFTestKey()) { $0.link = "signet-uaf://open" }
    let device = try await UAFTestDevice(on: server, dispatcher: dispatcher)
    let plain = try await UAFTestDevice(on: server, name: "Old", device: "d2", isEncrypted: false)
    for target in [device, plain, nil] {
      // Without a named dispatcher, the device's usual one is used.
      let way: JSONObject = target?.target == device.target ? [:] : ["dispatcher": .string(dispatcher)]
      let sent = try await dispatch(server, target, way)
      #expect(try sent.string("dispatchResult") == "dispatched")
      let information = try sent.object("dispatcherInformation")
      #expect(try information.string("name") == dispatcher)
      var response = try information.string("response")
      if dispatcher != "link" { response = try text(ofPicture: response) }
      let payload =
        dispatcher == "png-qr-code"
        ? try JSONObject(parsing: Array(response.utf8)) : try payload(in: response, "signet-uaf://open")
      let data: JSONObject
      if target?.target == device.target {
        data = try device.opened(payload)
      } else {
        #expect(try payload.string("nma_data_content_type") == "application/json")
        data = try payload.object("nma_data")
      }
      #expect(try data.string("token") == sent.string("token"))
      #expect(try data.string("redeem_url") == "\(server.origin)/nevisfido/token/redeem/registration")
      let redeemed = try await server.json(
        "/token/redeem/registration", ["token": .string(try data.string("token"))], isOrdered: false)
      #expect(try redeemed.integer("statusCode") == 1200)
    }
  }

  @Test("the relying party's data are in the payload and replace nothing")
  func carriesInformation() async throws {
    let server = try await UAFServer(UAFTestKey())
    let sent = try await dispatch(
      server, nil,
      [
        "dispatcher": "link",
        "dispatchInformation": ["data": "x", "token": "mine", "redeem_url": "https://evil.example"],
      ])
    let data = try payload(in: sent.object("dispatcherInformation").string("response"), "https://link")
      .object("nma_data")
    #expect(try data.string("data") == "x")
    #expect(try data.string("token") == sent.string("token"))
    #expect(try data.string("redeem_url").hasPrefix(server.origin))
  }

  @Test("a payload too large for a QR code is a dispatch error")
  func refusesLargePictures() async throws {
    let server = try await UAFServer(UAFTestKey())
    let large = String(repeating: "x", count: 4_000)
    let sent = try await dispatch(
      server, nil, ["dispatcher": "png-qr-code", "dispatchInformation": ["data": .string(large)]])
    #expect(try sent.string("dispatchResult") == "dispatchError")
  }

  @Test("a device of another user is not found")
  func keepsToTheUser() async throws {
    let server = try await UAFServer(UAFTestKey())
    try await server.users.add(UserID("bob"), by: .local)
    let device = try await UAFTestDevice(on: server, user: "bob")
    #expect(try await dispatch(server, device).string("dispatchResult") == "dispatchTargetNotFound")
    let nobody = try await server.json(
      "/token/dispatch/registration",
      ["dispatcher": "link", "getUafRequest": ["op": "Reg", "context": #"{"username":"nobody"}"#]])
    #expect(try nobody.string("dispatchResult") == "userNotFound")
    #expect(nobody["token"] == nil)
  }

  // MARK: Pushes

  /// A server whose pushes go to independent services, over HTTP/2.
  private struct Pushing {
    let services: PushServices
    let server: UAFServer

    init() async throws {
      let clock = VirtualClock()
      services = try PushServices()
      let dispatcher = FCMDispatcher(
        try FCMServiceAccount(keyFile: services.accountFile.bytes), base: services.base,
        over: services.transport,
        clock: clock)
      server = try await UAFServer(
        [UAFTestKey()], clock: clock, push: PushSetup(delivery: PushDelivery([dispatcher], clock: clock)))
    }

    /// Returns the messages since the last call.
    func messages() throws -> [JSONObject] {
      try services.requests().filter { try $0.field(":path") == "/v1/projects/signet-1/messages:send" }
        .map { try $0.checked().object("body").object("message") }
    }
  }

  private static let push = "firebase-cloud-messaging"

  @Test("a push contains the encrypted token and no other information", .needsPushServices)
  func pushes() async throws {
    let pushing = try await Pushing()
    let device = try await UAFTestDevice(on: pushing.server, dispatcher: Self.push)
    let sent = try await dispatch(pushing.server, device, ["dispatchInformation": ["data": "Pay 10 to Bob"]])
    #expect(try sent.string("dispatchResult") == "dispatched")
    #expect(try sent.object("dispatcherInformation") == ["name": .string(Self.push)])
    let messages = try pushing.messages()
    try #require(messages.count == 1)
    #expect(try messages[0].string("token") == "address:1")
    #expect(messages[0]["notification"] == nil)
    #expect(try messages[0].object("android").string("ttl") == "300s")
    let data = try messages[0].object("data")
    #expect(Set(data.members.map(\.name)) == ["nma_data", "nma_data_content_type", "nma_data_version"])
    let opened = try device.opened(data)
    #expect(try opened.string("token") == sent.string("token"))
    #expect(try opened.string("data") == "Pay 10 to Bob")
    let report = try await pushing.server.json(
      "/status", ["sessionId": .string(try sent.string("sessionId"))])
    let token = try report.object("tokenInformation")
    #expect(try token.string("dispatchTargetExtId") == device.target)
    #expect(try token.object("dispatcherInformation").string("name") == Self.push)
  }

  @Test("nothing is pushed unencrypted", .needsPushServices)
  func pushesNothingInTheClear() async throws {
    let pushing = try await Pushing()
    let device = try await UAFTestDevice(on: pushing.server, isEncrypted: false, dispatcher: Self.push)
    #expect(try await dispatch(pushing.server, device).string("dispatchResult") == "dispatchError")
    #expect(
      try await dispatch(pushing.server, nil, ["dispatcher": .string(Self.push)])
        .string("dispatchResult") == "dispatchTargetNotFound")
    #expect(try pushing.services.requests().isEmpty)
  }

  @Test("the address of a device that the service does not know any more is forgotten", .needsPushServices)
  func forgetsAddresses() async throws {
    let pushing = try await Pushing()
    let device = try await UAFTestDevice(on: pushing.server, dispatcher: Self.push)
    #expect(try await dispatch(pushing.server, device).string("dispatchResult") == "dispatched")
    let unregistered: JSONObject = [
      "error": [
        "code": 404, "status": "NOT_FOUND",
        "details": [
          [
            "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED",
          ]
        ],
      ]
    ]
    try pushing.services.answer(404, body: JSONValue.object(unregistered).text)
    #expect(try await dispatch(pushing.server, device).string("dispatchResult") == "dispatchTargetExpired")
    #expect(try await pushing.server.storage.uafTarget("\(device.target)")?.sealedTarget == nil)
    #expect(try await pushing.server.audit().contains { $0.contains("uaf.targetExpired") })
    _ = try pushing.messages()
    #expect(try await dispatch(pushing.server, device).string("dispatchResult") == "dispatchTargetNotFound")
    #expect(try pushing.messages().isEmpty)
    // The device reports its address now.
    let jws = try device.jws(at: pushing.server.clock.now, ["target": "address:2"])
    #expect(try await pushing.server.change("/devices/d1", jws).status == 204)
    #expect(try await dispatch(pushing.server, device).string("dispatchResult") == "dispatched")
    #expect(try pushing.messages().map { try $0.string("token") } == ["address:2"])
  }

  @Test("a failed push is reported, and the token can still be redeemed", .needsPushServices)
  func saysTrouble() async throws {
    let pushing = try await Pushing()
    let device = try await UAFTestDevice(on: pushing.server, dispatcher: Self.push)
    // The very first request is for an access token.
    #expect(try await dispatch(pushing.server, device).string("dispatchResult") == "dispatched")
    try pushing.services.answer(503, body: "{}")
    let sent = try await dispatch(pushing.server, device)
    #expect(try sent.string("dispatchResult") == "dispatchError")
    let redeemed = try await pushing.server.json(
      "/token/redeem/registration", ["token": .string(try sent.string("token"))], isOrdered: false)
    #expect(try redeemed.integer("statusCode") == 1200)
    #expect(pushing.server.capture.lines.contains { $0.contains("push.failed") })
  }

  @Test("without the push service its dispatcher is refused")
  func needsTheService() async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    #expect(
      try await dispatch(server, device, ["dispatcher": .string(Self.push)]).string("dispatchResult")
        == "dispatcherNotFound")
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test if there is no Python with the tests' modules.
  fileprivate static var needsPushServices: Self {
    .enabled(
      if: PushServices.isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt")
  }
}
