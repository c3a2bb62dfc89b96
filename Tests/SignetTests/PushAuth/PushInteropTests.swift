import Foundation
import PushFixture
import Signet
import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import SignetVault
import Testing

/// Both sides of the push protocol over HTTPS, with independent programs in Python.
@Suite(.timeLimit(.minutes(10)), .enabled(if: PythonPeer.isWanted)) struct PushInteropTests {
  /// A device, and an independent server.
  private struct ForeignServer {
    let folder: TemporaryFolder
    let peer: PythonPeer
    let device: Device

    init() throws {
      folder = try TemporaryFolder()
      let authority = try CertificateAuthority()
      let identity = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
      let (certificate, key) = (folder.file("server.pem"), folder.file("server.key"))
      try Data(identity.certificatePEM.utf8).write(to: URL(filePath: certificate))
      try Data(identity.insecurePrivateKeyPEM.utf8).write(to: URL(filePath: key))
      peer = try PythonPeer("am_server.py", ["certificate": .string(certificate), "key": .string(key)])
      let path = folder.path + "/device"
      let vault = try Vault.forTests(path, clock: VirtualTrustedClock())
      device = Device(
        vault: vault,
        connection: ConnectionConfiguration(certificateAuthoritiesPEM: try authority.certificatePEM))
    }

    func message(_ kind: String, _ more: JSONObject = [:]) throws -> PushAuthDelivery {
      let mechanisms = try peer("state", "").strings("mechanisms")
      var order: JSONObject = ["mechanism": .string(mechanisms.first ?? ""), "kind": .string(kind)]
      for member in more.members { order[member.name] = member.value }
      let made = try peer("message", .object(order))
      return try PushAuthDelivery(userInfo: ["aps": .object(made)])
    }
  }

  @Test("a device enrols at an existing server, answers its messages and renews its token") func device()
    async throws
  {
    let bench = try ForeignServer()
    let accounts = bench.device.accounts
    let order: JSONObject = [
      "scheme": "mfauth", "issuer": "ForgeRock", "account": "demo@example.com",
      "policies": ["appsOwn": [:]],
    ]
    let uri = try AuthenticatorURI(bench.peer("enrol", .object(order)).string("uri"))
    let target = try PushAuthDevice(token: "AABB", name: "Laptop")
    let account = try await accounts.enrol(uri, from: target).account
    #expect(account.issuer == "ForgeRock" && account.name == "demo@example.com" && account.codes.count == 1)
    #expect(account.policyNames == ["appsOwn"] && account.backgroundColor == "519387")
    let mechanism = try #require(account.push?.mechanismID)
    #expect(try bench.peer("state", .string(mechanism)) == ["device": "AABB", "name": "Laptop"])
    // The URI is used up at the server now, so this one enrolment serves all messages.
    for kind in ["default", "challenge"] {
      for isApproved in [true, false] {
        let delivery = try bench.message(kind, ["numbers": [12, 34, 56], "right": 34, "text": "Log in"])
        guard case .new(let notification) = try await accounts.receive(delivery) else {
          Issue.record("not new")
          return
        }
        let (id, isNumber) = (notification.id, kind == "challenge")
        #expect(notification.message.numbers == (isNumber ? [12, 34, 56] : []))
        if isNumber && isApproved {
          do { try await accounts.answer(id, .number("12")) } catch {
            guard case .wrongNumber = error else { throw error }
          }
          #expect(try bench.peer("state", .string(id))["state"] == "pending")
        }
        try await accounts.answer(id, isApproved ? isNumber ? .number("34") : .approve : .deny)
        #expect(try bench.peer("state", .string(id))["state"] == (isApproved ? "approved" : "denied"))
      }
    }
    #expect(try await accounts.enrolled()[0].push?.userID == "demo")
    let foreign = try bench.message("default", ["user": "mallory"])
    await #expect(throws: SignetError.pushAuth(.otherUser)) { try await accounts.receive(foreign) }
    _ = try bench.peer("fail", 1)
    #expect(try await accounts.setPushDevice(PushAuthDevice(token: "CCDD", name: "Laptop")).count == 1)
    #expect(try bench.peer("state", .string(mechanism))["device"] == "AABB")
    #expect(try await accounts.setPushDevice(PushAuthDevice(token: "EEFF", name: "Laptop")).isEmpty)
    #expect(try bench.peer("state", .string(mechanism))["device"] == "EEFF")
  }

  @Test("a server that fails while a device enrols leaves nothing on it") func brokenServer() async throws {
    let bench = try ForeignServer()
    let order: JSONObject = ["scheme": "mfauth", "issuer": "ForgeRock", "account": "demo"]
    let uri = try AuthenticatorURI(bench.peer("enrol", .object(order)).string("uri"))
    let target = try PushAuthDevice(token: "AABB", name: "Laptop")
    _ = try bench.peer("fail", 1)
    await #expect(throws: SignetError.pushAuthRefused(status: 503)) {
      try await bench.device.accounts.enrol(uri, from: target)
    }
    #expect(try await bench.device.accounts.enrolled().isEmpty)
    #expect(try await bench.device.accounts.enrol(uri, from: target).account.codes.count == 1)
    var forged = uri
    forged.account = "other"
    forged.push?.sharedSecret = SharedSecretBox(SecretBytes.random(byteCount: 32))
    (forged.scheme, forged.oath) = (.pushauth, nil)
    let asked = forged
    let refused = await #expect(throws: SignetError.self) {
      try await bench.device.accounts.enrol(asked, from: target)
    }
    // With that server's words.
    if case .pushAuthRefused(status: 400, let reason) = refused {
      #expect(!reason.isEmpty)
    } else {
      Issue.record("\(String(describing: refused))")
    }
  }

  @Test(
    "an existing app enrols at our server, answers its messages and renews its token",
    arguments: [false, true])
  func app(hasCodes: Bool) async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(
      directory: folder.path, protection: .device, derivation: .insecureForTests)
    defer { withExtendedLifetime(folder) {} }
    let transport = try CurlTransport(
      ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    let key = try await APIKeyService(server.context).create(
      name: "shop", scopes: [.relyingParty, .admin], by: .local
    ).text
    func call(_ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil) async throws -> JSONObject {
      let response = try await transport.send(
        HTTPRequest(
          method: method, url: server.serverURL.fullForm + "/v1" + path,
          headers: [("Authorization", "Bearer \(key)"), ("Content-Type", "application/json")],
          body: body?.bytes ?? []))
      #expect(response.status < 300, "\(String(decoding: response.body, as: UTF8.self))")
      return try JSONObject(parsing: response.body)
    }
    _ = try await call(.post, "/admin/users", ["user": "alice"])
    var order: JSONObject = [
      "user": "alice", "issuer": "Our bank", "policies": ["deviceTampering": ["score": .number(0.8)]],
    ]
    if hasCodes { order["codes"] = ["kind": "totp", "algorithm": "SHA256", "digits": 8, "period": 60] }
    let made = try await call(.post, "/admin/pushauth/mechanisms", order)
    #expect(try made.string("uri").hasPrefix(hasCodes ? "mfauth://totp/" : "pushauth://push/"))
    let authority = folder.file("authority.pem")
    try Data(server.certificateAuthorityPEM.utf8).write(to: URL(filePath: authority))
    let peer = try PythonPeer("authenticator_app.py", ["authority": .string(authority)])
    let enrolled = try peer("enrol", .string(made.string("uri")))
    #expect(enrolled["status"] == 200 && enrolled["body"] == [:] && enrolled["issuer"] == "Our bank")
    #expect(try peer("enrol", .string(made.string("uri")))["status"] == 400)
    if hasCodes {
      let code = try peer("code", .integer(SystemWallClock().now))["code"] ?? ""
      for isValid in [true, false] {
        let said = try await call(.post, "/otp/validate", ["user": "alice", "code": code])
        #expect(said["valid"] == .bool(isValid))
      }
    }
    for (kind, decision) in [
      ("default", "approved"), ("default", "denied"), ("challenge", "approved"), ("biometric", "approved"),
    ] {
      let sent = try await call(
        .post, "/pushauth/messages", ["user": "alice", "kind": .string(kind), "text": "Pay?"])
      let push = try sent.object("push")
      var order: JSONObject = ["messageId": push["messageId"] ?? "", "data": push["data"] ?? ""]
      if decision == "denied" { order["deny"] = true }
      if kind == "challenge" {
        order["number"] = .string(String(try sent.integer("number")))
      }
      let answer = try peer("answer", .object(order))
      #expect(answer["status"] == 200)
      #expect(try answer.object("claims")["m"] == "Pay?" && answer.object("claims")["k"] == .string(kind))
      #expect(try peer("answer", .object(order))["status"] == 400)
      let id = try sent.string("id")
      #expect(try await call(.get, "/pushauth/messages/\(id)")["status"] == .string(decision))
    }
    #expect(try peer("refresh", ["token": "CC01"])["status"] == 200)
    #expect(try peer("refresh", ["token": "CC02", "newer": true])["status"] == 200)
    let list = try await call(.get, "/admin/pushauth/mechanisms?user=alice").array("authenticators")
    #expect(list.count == 1)
    _ = try await call(.delete, "/admin/pushauth/mechanisms/\(made.string("id"))")
    #expect(try peer("refresh", ["token": "CC03"])["status"] == 400)
    await server.stop()
  }
}
