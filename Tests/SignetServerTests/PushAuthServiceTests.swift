import SignetCrypto
import SignetHTTPServer
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetPushAuth
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import Testing

import SignetServer

/// Authenticator apps that enrol at this server with a URI.
@Suite(.timeLimit(.minutes(10))) struct PushAuthServiceTests {
  /// An app that speaks the protocol with the pure core.
  private struct App {
    let key: PushAuthKey
    let endpoints: PushAuthEndpoints
    let name: String
    let challenge: [UInt8]
    let messageID: String

    init(_ text: String, named name: String = "app-1") throws {
      let uri = try AuthenticatorURI(text)
      let push = try #require(uri.push)
      key = try push.sharedSecret.withSecret { try PushAuthKey($0) }
      endpoints = try PushAuthEndpoints(
        registration: push.registrationEndpoint, authentication: push.authenticationEndpoint)
      (self.name, challenge, messageID) = (name, try #require(push.challenge), try #require(push.messageID))
    }

    func registration(token: String = "AB0123456789CDEF") throws -> PushAuthRequest {
      PushAuthRequest.registration(
        of: name, messageID: messageID, challenge: challenge,
        device: try PushAuthDevice(token: token, name: "Phone"), at: endpoints, cookie: nil, key: key)
    }
  }

  private static func post(_ server: ServerFixture, _ request: PushAuthRequest) async throws -> ServerResponse
  {
    try await post(server, request.action.rawValue, request.body.bytes)
  }

  private static func post(
    _ server: ServerFixture, _ action: String, _ body: [UInt8]
  ) async throws -> ServerResponse {
    var request = ServerRequest(method: "POST", path: try RequestPath(raw: "/main/v1/pushauth"), body: body)
    request.query = try QueryParameters(raw: "_action=\(action)")
    return await PushAuthService(server.context).take(request)
  }

  private static func enrolled(_ server: ServerFixture, _ user: UserID = "alice") async throws -> App {
    if try await server.storage.user(user) == nil { try await server.users.add(user, by: .local) }
    let made = try await PushAuthService(server.context).enrol(
      NewPushApp(["user": .string(user.text), "policies": ["biometricAvailable": [:]]]), by: .local)
    return try App(made.uri, named: "app of \(made.id)".replacing(" ", with: "-"))
  }

  private static func registered(_ server: ServerFixture, _ user: UserID = "alice") async throws -> App {
    let app = try await enrolled(server, user)
    #expect(try await post(server, app.registration()).status == 200)
    return app
  }

  private static func received(_ sent: SentPushAuthMessage, by app: App) throws -> PushAuthMessage {
    try PushAuthDelivery(messageID: sent.messageID, token: sent.token).verified(with: app.key)
  }

  @Test("an app registers once, with its URI's secret, before the URI expires") func registers() async throws
  {
    let server = try ServerFixture()
    let app = try await Self.enrolled(server)
    var forged = try app.registration().body
    forged["jwt"] = .string(
      try PushAuthKey(SecretBytes.random(byteCount: 32)).sign([
        "response": "AA==", "mechanismUid": "m", "deviceId": "A", "deviceType": "ios",
        "communicationType": "apns",
      ]))
    #expect(try await Self.post(server, "register", forged.bytes).status == 400)
    let response = try await Self.post(server, app.registration())
    #expect(response.status == 200 && response.body == Array("{}".utf8))
    #expect(try await Self.post(server, app.registration()).status == 400)
    let stored = try #require(await server.storage.pushAuthMechanisms(user: "alice").first)
    #expect(stored.mechanism == app.name && stored.state == .active)
    #expect(PushAuthService(server.context).device(of: stored)?.token == "AB0123456789CDEF")
    let late = try await Self.enrolled(server)
    server.clock.advance(by: 15 * 60)
    #expect(try await Self.post(server, late.registration()).status == 400)
    #expect(try await server.audit().contains { $0.contains("pushauth.registered") })
    #expect(try await server.audit().allSatisfy { !$0.contains("AB0123456789CDEF") })
  }

  @Test("the name of another app is refused") func names() async throws {
    let server = try ServerFixture()
    let first = try await Self.registered(server)
    let made = try await PushAuthService(server.context).enrol(NewPushApp(["user": "alice"]), by: .local)
    #expect(try await Self.post(server, App(made.uri, named: first.name).registration()).status == 400)
  }

  @Test("approval, denial, number and biometric answers each count once") func answers()
    async throws
  {
    let server = try ServerFixture()
    let app = try await Self.registered(server)
    let service = PushAuthService(server.context)
    for (kind, isDenied) in [
      ("default", false), ("default", true), ("challenge", false), ("biometric", false),
    ] {
      let sent = try await service.send(
        NewPushMessage(["user": "alice", "kind": .string(kind), "text": "Log in?"]), from: "Shop", by: .local)
      let message = try Self.received(sent, by: app)
      #expect(message.text == "Log in?" && message.kind.rawValue == kind && sent.delivery == .none)
      let answer: PushAuthAnswer =
        isDenied
        ? .deny
        : kind == "default"
          ? .approve : kind == "challenge" ? .number(String(try #require(sent.number))) : .approveRecognised
      let request = try PushAuthRequest.answer(answer, to: message, at: app.endpoints, key: app.key)
      #expect(try await Self.post(server, request).status == 200)
      #expect(try await Self.post(server, request).status == 400)
      #expect(try await service.message(sent.record.id).state == (isDenied ? .denied : .approved))
      #expect(
        try await service.messageStatus(of: sent.record.id).status == (isDenied ? "denied" : "approved"))
    }
  }

  @Test("a wrong number ends a message") func wrongNumbers() async throws {
    let server = try ServerFixture()
    let app = try await Self.registered(server)
    let service = PushAuthService(server.context)
    for (wrongCount, isTaken) in [(0, true), (1, false)] {
      let sent = try await service.send(
        NewPushMessage(["user": "alice", "kind": "challenge"]), from: "Shop", by: .local)
      let message = try Self.received(sent, by: app)
      let right = try #require(sent.number)
      #expect(message.numbers.count == 3 && message.numbers.contains(right))
      for count in 0..<wrongCount {
        let wrong = try PushAuthRequest.answer(.number("7"), to: message, at: app.endpoints, key: app.key)
        let response = try await Self.post(server, wrong)
        let detail = try JSONObject(parsing: response.body).object("detail")
        #expect(response.status == 400 && detail["remaining"] == 0 && count == 0)
      }
      let last = try PushAuthRequest.answer(
        .number(String(right)), to: message, at: app.endpoints, key: app.key)
      #expect(try await Self.post(server, last).status == (isTaken ? 200 : 400))
      #expect(try await service.message(sent.record.id).state == (isTaken ? .approved : .denied))
    }
  }

  @Test("late and forged answers, and those of another app or message, are refused") func forged()
    async throws
  {
    let server = try ServerFixture()
    let (app, other) = (try await Self.registered(server), try await Self.registered(server, "bob"))
    let service = PushAuthService(server.context)
    let sent = try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .local)
    let message = try Self.received(sent, by: app)
    let second = try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .local)
    let request = try PushAuthRequest.answer(.approve, to: message, at: app.endpoints, key: app.key)
    var bodies = [JSONObject]()
    bodies.append(try PushAuthRequest.answer(.approve, to: message, at: app.endpoints, key: other.key).body)
    var moved = request.body
    moved["messageId"] = .string(second.messageID)
    bodies.append(moved)
    moved["messageId"] = "AUTHENTICATE:none"
    bodies.append(moved)
    moved["messageId"] = .string(sent.record.id.text)
    bodies.append(moved)
    bodies.append(["messageId": .string(sent.messageID)])
    bodies.append([:])
    for body in bodies {
      let response = try await Self.post(server, "authenticate", body.bytes)
      #expect(response.status == 400)
      #expect(try JSONObject(parsing: response.body)["reason"] == "Bad Request")
    }
    for action in ["register", "refresh", "other", ""] {
      #expect(try await Self.post(server, action, request.body.bytes).status == 400)
    }
    server.clock.advance(by: 119)
    #expect(try await service.message(sent.record.id).state == .pending)
    server.clock.advance(by: 1)
    #expect(try await Self.post(server, request).status == 400)
    #expect(try await service.message(sent.record.id).state == .expired)
    #expect(try await service.message(second.record.id).state == .expired)
    // An expiry that was reported remains, even if the clock is set back.
    server.clock.advance(by: -60)
    #expect(try await Self.post(server, request).status == 400)
    #expect(try await service.message(sent.record.id).state == .expired)
    #expect(try await service.message(second.record.id).state == .expired)
  }

  @Test("a new device token is accepted from its own app and user only") func refreshes()
    async throws
  {
    let server = try ServerFixture()
    let (app, other) = (try await Self.registered(server), try await Self.registered(server, "bob"))
    let device = try PushAuthDevice(token: "CD02", name: "Phone", platform: "android", service: "gcm")
    func status(_ key: PushAuthKey, _ user: String?) async throws -> Int {
      try await Self.post(
        server,
        PushAuthRequest.update(
          of: app.name, userID: user, device: device, at: app.endpoints, cookie: nil, key: key)
      ).status
    }
    #expect(try await status(other.key, nil) == 400)
    #expect(try await status(app.key, "bob") == 400)
    #expect(try await status(app.key, "alice") == 200)
    #expect(try await status(app.key, nil) == 200)
    let stored = try #require(await server.storage.pushAuthMechanisms(user: "alice").first)
    #expect(PushAuthService(server.context).device(of: stored) == device)
  }

  @Test("the number of pending messages is bounded; a user without an app, or with several, is an error")
  func limits() async throws {
    let server = try ServerFixture()
    let service = PushAuthService(server.context)
    await #expect(throws: Problem.self) {
      try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .local)
    }
    _ = try await Self.registered(server)
    let limit = server.context.settings.challengeLimits.pending
    for number in 0..<limit {
      _ = try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .key("\(number % 2)"))
    }
    let refusal = await #expect(throws: Problem.self) {
      try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .local)
    }
    #expect(refusal?.code == .transactionTooMany && refusal?.retryAfter != nil)
    server.clock.advance(by: 86_400)
    _ = try await service.send(
      NewPushMessage(["user": "alice", "context": "{\"remoteIp\":\"192.0.2.1\"}"]), from: "Shop", by: .local)
    for form in [
      ["user": "alice", "kind": "other"], ["user": "alice", "lifetime": 1], ["mechanism": "none"], [:],
      ["user": "alice", "text": " "], ["user": "alice", "context": "{"], ["user": "alice", "context": "[]"],
      ["user": "alice", "text": .string(String(repeating: "a", count: 4000))],
    ] as [JSONObject] {
      await #expect(throws: Problem.self) {
        try await service.send(NewPushMessage(form), from: "Shop", by: .local)
      }
    }
    _ = try await Self.registered(server)
    await #expect(throws: Problem.self) {
      try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .local)
    }
    let newest = try #require(await server.storage.pushAuthMechanisms(user: "alice").last)
    server.clock.advance(by: 86_400)
    _ = try await service.send(
      NewPushMessage(["mechanism": .string(newest.id.text)]), from: "Shop", by: .local)
    await #expect(throws: Problem.self) {
      try await service.send(
        NewPushMessage(["mechanism": .string(newest.id.text), "user": "bob"]), from: "Shop", by: .local)
    }
  }

  @Test("a removed mechanism removes its messages; unused ones are swept") func removal() async throws {
    let server = try ServerFixture()
    let app = try await Self.registered(server)
    let service = PushAuthService(server.context)
    let sent = try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .local)
    let message = try Self.received(sent, by: app)
    let id = sent.record.mechanism
    let event = server.context.audit(by: .local)(.pushAuthRemoved(mechanism: id))
    #expect(try await server.storage.removePushAuthMechanism(id, audit: event))
    #expect(try await server.storage.pushAuthMessage(sent.record.id) == nil)
    let request = try PushAuthRequest.answer(.approve, to: message, at: app.endpoints, key: app.key)
    #expect(try await Self.post(server, request).status == 400)
    _ = try await Self.enrolled(server)
    server.clock.advance(by: 15 * 60)
    try await server.context.sweep()
    #expect(try await server.storage.pushAuthMechanisms(user: "alice").isEmpty)
  }

  @Test(
    "an invitation with a policy whose name is a typing error is refused, with the known names and the closest one",
    arguments: [
      (
        ["screenLok": [:]],
        "there is no policy screenLok; did you mean screenLock? Known names: biometricAvailable, "
      ),
      (["geofence": [:], "inactivty": [:]], "there is no policy inactivty; did you mean inactivity?"),
      (["inactivity": ["days": 0]], "days is out of range"),
    ] as [(JSONObject, String)])
  func unknownPolicy(_ policies: JSONObject, _ reason: String) async throws {
    let server = try ServerFixture()
    try await server.users.add(UserID("alice"), by: .local)
    let refused = await #expect(throws: Problem.self) {
      try await PushAuthService(server.context).enrol(
        NewPushApp(["user": "alice", "policies": .object(policies)]), by: .local)
    }
    #expect(
      refused?.code == .malformed && refused?.detail.contains(reason) == true, "\(refused?.detail ?? "")")
    #expect(try await server.storage.pushAuthMechanisms(user: "alice").isEmpty)
  }

  @Test("an invitation may have a custom app policy") func policyOfAnApp() async throws {
    let server = try ServerFixture()
    try await server.users.add(UserID("alice"), by: .local)
    let made = try await PushAuthService(server.context).enrol(
      NewPushApp(["user": "alice", "policies": ["geofence": [:]]]), by: .local)
    #expect(!made.uri.isEmpty)
  }

  @Test("a combined URI: codes are valid from the app's registration until its removal") func combined()
    async throws
  {
    let server = try ServerFixture()
    try await server.users.add(UserID("alice"), by: .local)
    let service = PushAuthService(server.context)
    let made = try await service.enrol(
      NewPushApp([
        "user": "alice", "issuer": "Acme Bank", "policies": ["biometricAvailable": [:]],
        "codes": ["kind": "totp", "algorithm": "sha256", "digits": 8],
      ]), by: .local)
    let uri = try AuthenticatorURI(made.uri)
    #expect(made.uri.hasPrefix("mfauth://totp/Acme%20Bank:alice?"))
    #expect(
      uri.scheme == .mfauth && uri.issuer == "Acme Bank"
        && uri.policies?.contains("biometricAvailable") == true)
    let oath = try #require(uri.oath)
    #expect(oath.algorithm == .sha256 && oath.digits == 8 && oath.secret.withSecret { $0.byteCount } == 32)
    let token = try #require(made.token)
    func code() throws -> String {
      try oath.secret.withSecret {
        try TOTP(secret: $0, algorithm: .sha256, digits: 8).code(at: server.clock.now).code
      }
    }
    func isValid(_ code: String) async throws -> Bool {
      try await CodeService(server.context).validate(code, user: UserID("alice"), by: .init(.local)).value
        == .accepted
    }
    #expect(try await !isValid(code()))
    let app = try App(made.uri)
    #expect(try await Self.post(server, app.registration()).status == 200)
    server.clock.advance(by: 60)
    #expect(try await isValid(code()))
    #expect(
      try await service.send(NewPushMessage(["user": "alice"]), from: "Shop", by: .local).delivery == .none)
    let listed = try await server.storage.tokens(after: "", user: "alice", limit: 10)
    #expect(listed.map(\.serial) == [token] && listed.map(\.state) == [.active])
    let event = server.context.audit(by: .local)(.pushAuthRemoved(mechanism: made.id))
    #expect(try await server.storage.removePushAuthMechanism(made.id, audit: event))
    #expect(try await server.storage.tokens(after: "", user: "alice", limit: 10).isEmpty)
  }

  @Test("code parameters that apps do not support are refused, and neither half is stored")
  func combinedRefused()
    async throws
  {
    let server = try ServerFixture()
    try await server.users.add(UserID("alice"), by: .local)
    let service = PushAuthService(server.context)
    for codes in [
      [:], ["kind": "ocra"], ["kind": "totp", "algorithm": "MD5"], ["kind": "totp", "algorithm": "SHA384"],
      ["kind": "totp", "digits": 7], ["kind": "totp", "period": 0], ["kind": "totp", "period": 301],
      ["kind": 1],
    ] as [JSONObject] {
      await #expect(throws: Problem.self) {
        try await service.enrol(NewPushApp(["user": "alice", "codes": .object(codes)]), by: .local)
      }
    }
    // The push part cannot be written, so the codes are not added either.
    let tooLong = await #expect(throws: Problem.self) {
      try await service.enrol(
        NewPushApp([
          "user": "alice", "codes": ["kind": "hotp"], "issuer": .string(String(repeating: "a", count: 2000)),
        ]), by: .local)
    }
    #expect(tooLong?.detail.hasSuffix(" bytes; shorten issuer, account or policies.") == true)
    await #expect(throws: Problem.self) {
      try await service.enrol(NewPushApp(["user": "nobody", "codes": ["kind": "hotp"]]), by: .local)
    }
    #expect(try await server.storage.tokens(after: "", user: nil, limit: 10).isEmpty)
    #expect(try await server.storage.pushAuthMechanisms(user: "alice").isEmpty)
  }

  @Test("replayed device tokens change nothing; the same device token is no change")
  func replayedChanges() async throws {
    let server = try ServerFixture()
    let app = try await Self.registered(server)
    func device() async throws -> String? {
      let stored = try #require(await server.storage.pushAuthMechanisms(user: "alice").first)
      return PushAuthService(server.context).device(of: stored)?.token
    }
    func change(_ token: String, _ id: String? = nil) throws -> PushAuthRequest {
      PushAuthRequest.update(
        of: app.name, userID: nil, device: try PushAuthDevice(token: token, name: "Phone"), at: app.endpoints,
        cookie: nil, id: id, key: app.key)
    }
    var registration = try app.registration().body
    registration["mechanismUid"] = .string(app.name)
    let first = try change("CD02")
    #expect(try await Self.post(server, first).status == 200)
    #expect(try await Self.post(server, change("EF03")).status == 200)
    let entries = try await server.audit().count
    #expect(try await Self.post(server, first).status == 400)
    #expect(try await Self.post(server, "refresh", registration.bytes).status == 400)
    #expect(try await device() == "EF03")
    for _ in 0..<3 { #expect(try await Self.post(server, change("EF03")).status == 200) }
    #expect(try await server.audit().count == entries)
    // A real return to an earlier token comes in another JWT.
    #expect(try await Self.post(server, change("CD02", "2")).status == 200)
    #expect(try await device() == "CD02")
  }

  @Test("a message's text is signed with its id; only number refusals have a count")
  func signedID()
    async throws
  {
    let server = try ServerFixture()
    let app = try await Self.registered(server)
    let sent = try await PushAuthService(server.context).send(
      NewPushMessage(["user": "alice", "lifetime": 600]), from: "Shop", by: .local)
    #expect(try Self.received(sent, by: app).messageID == sent.messageID)
    #expect(throws: PushAuthFailure.self) {
      try PushAuthDelivery(messageID: "AUTHENTICATE:other", token: sent.token).verified(with: app.key)
    }
    #expect(try PushAuthDelivery(token: sent.token).verified(with: app.key).messageID == sent.messageID)
    let response = try await Self.post(server, "authenticate", Array("{}".utf8))
    #expect(try JSONObject(parsing: response.body).object("detail").isEmpty)
  }
}
