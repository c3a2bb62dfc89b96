import Foundation
import PostgreSQLFixture
import SignetCrypto
import SignetHTTPServer
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetPushAuth
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Testing

import SignetServer

/// A complete use of an authenticator app; afterwards no secret is in the log, the audit log or a file.
@Suite("Secrets of authenticator apps at the server", .timeLimit(.minutes(10)))
struct PushAuthSecrecyTests {
  @Test("shared secret and device token are stored encrypted, and no log has the request's text")
  func keepsSecrets() async throws {
    let server = try ServerFixture(on: .sqlite)
    try await server.users.add(UserID("alice"), by: .local)
    let service = PushAuthService(server.context)
    let made = try await service.enrol(NewPushApp(["user": "alice"]), by: .local)
    let uri = try AuthenticatorURI(made.uri)
    let push = try #require(uri.push)
    let secret = push.sharedSecret.withSecret { $0.insecureCopy() }
    let key = try push.sharedSecret.withSecret { try PushAuthKey($0) }
    let endpoints = try PushAuthEndpoints(
      registration: push.registrationEndpoint, authentication: push.authenticationEndpoint)
    let token = "5EC2E7D0CAFEBABE00112233445566778899AABBCCDDEEFF"
    let registration = PushAuthRequest.registration(
      of: "an-app", messageID: try #require(push.messageID), challenge: try #require(push.challenge),
      device: try PushAuthDevice(token: token, name: "A telling name"), at: endpoints, cookie: nil, key: key)
    func post(_ request: PushAuthRequest) async throws -> Int {
      var sent = ServerRequest(
        method: "POST", path: try RequestPath(raw: "/main/v1/pushauth"), body: request.body.bytes)
      sent.query = try QueryParameters(raw: "_action=\(request.action.rawValue)")
      return await PushAuthService(server.context).take(sent).status
    }
    #expect(try await post(registration) == 200)
    #expect(try await post(registration) == 400)
    let text = "Pay 4711.11 EUR to Carol"
    var tokens: [String] = []
    for isRight in [false, true] {
      let sent = try await service.send(
        NewPushMessage(["user": "alice", "kind": "challenge", "text": .string(text)]), from: "Shop",
        by: .local)
      tokens.append(sent.token)
      let message = try PushAuthDelivery(messageID: sent.messageID, token: sent.token).verified(with: key)
      let number = isRight ? String(try #require(sent.number)) : "wrong-number-here"
      _ = try await post(PushAuthRequest.answer(.number(number), to: message, at: endpoints, key: key))
      #expect(try await service.message(sent.record.id).state == (isRight ? .approved : .denied))
    }

    let texts =
      [
        Base64.encode(secret), Base64URL.encode(secret), Hex.encode(secret), token, made.uri,
        "A telling name", text, "wrong-number-here", try registration.body.string("jwt"),
      ] + tokens
    let records = server.capture.lines + (try await server.audit())
    #expect(records.contains { $0.contains("pushauth.registered") })
    for text in texts { #expect(!records.contains { $0.contains(text) }, "\(text)") }
    // The text and the answer are stored as for every transaction.
    let kept = Set([text] + tokens)
    let needles = texts.filter { !kept.contains($0) }.map { Array($0.utf8) } + [secret]
    var isUserFound = false
    for name in try FileManager.default.contentsOfDirectory(atPath: server.folder.path) {
      let data = try Data(contentsOf: URL(filePath: "\(server.folder.path)/\(name)"))
      for needle in needles {
        #expect(
          data.firstRange(of: Data(needle)) == nil, "\(name): \(String(decoding: needle, as: UTF8.self))")
      }
      isUserFound = isUserFound || data.firstRange(of: Data("alice".utf8)) != nil
    }
    // The control of the search: the user's ID is stored in plain text.
    #expect(isUserFound)
  }
}
