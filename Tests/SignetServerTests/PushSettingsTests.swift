import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetPush
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Testing

/// The member `push` of `server.json`, and the configured services.
@Suite struct PushSettingsTests {
  private static func settings() throws -> ServerConfigurationFile {
    ServerConfigurationFile(
      serverURL: try ServerURL("id.example.org/main"),
      profile: ContainerProfile(protection: .device, totp: .standard))
  }

  private func parse(_ push: String) throws -> PushSettings {
    try PushSettings.schema.read(JSONObject(parsing: Array(push.utf8)))
  }

  private static let all = """
    {"apns":{"key":"apns.p8","keyID":"K","teamID":"T","topic":"org.example.app"},
     "fcm":{"account":"fcm.json","url":"https://fcm.example"},
     "webPush":{"key":"/keys/web.pem","contact":"mailto:a@example.org","hosts":["push.example.org"]},
     "webhook":{"url":"https://gateway.example/push","key":"hook.pem","keyID":"signet"},"authority":"ca.pem"}
    """

  @Test("every member survives a round trip")
  func roundTrip() throws {
    let push = try parse(Self.all)
    #expect(push.apns?.topic == "org.example.app" && push.fcm?.url == "https://fcm.example")
    #expect(push.webPush?.hosts == ["push.example.org"] && push.webhook?.keyID == "signet")
    #expect(try PushSettings.schema.read(PushSettings.schema.json(of: push)) == push)
    #expect(try parse("{}") == PushSettings())
  }

  @Test(
    "missing, unknown and malformed members are refused",
    arguments: [
      #"{"smtp":{}}"#, #"{"apns":{}}"#, #"{"apns":{"key":"a/b","keyID":"K","teamID":"T","topic":"t"}}"#,
      #"{"apns":{"key":"a","keyID":"K \"","teamID":"T","topic":"t"}}"#, #"{"fcm":{"account":".."}}"#,
      #"{"fcm":{"account":"a","url":"http://fcm.example"}}"#,
      #"{"webPush":{"key":"a","contact":"operator@example.org"}}"#, #"{"webhook":{"key":"a","keyID":"b"}}"#,
      #"{"webhook":{"url":"https://gateway.example/","key":"a","keyID":"b"}}"#, #"{"authority":""}"#,
      #"{"webhook":{"url":"https://a:b@gateway.example","key":"a","keyID":"b"}}"#,
      #"{"webhook":{"url":"https://0x7f.1","key":"a","keyID":"b"}}"#,
    ])
  func refused(_ text: String) throws {
    #expect(throws: (any Error).self) { try parse(text) }
  }

  @Test("a server has its folder's services, and names an unusable file")
  func services() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("server")
    var settings = try Self.settings()
    settings.push = try parse(
      #"""
      {"webPush":{"key":"web.pem","contact":"mailto:a@example.org"},
       "webhook":{"url":"https://gateway.example/push","key":"web.pem","keyID":"signet"}}
      """#)
    let made = try await DataDirectory.create(at: path, settings)
    #expect(throws: DataDirectoryFailure.self) { try made.serviceContext(log: EventLog { _ in }) }
    let pem = try CertificateAuthority().issueServerCertificate(dnsNames: ["localhost"]).insecurePrivateKeyPEM
    let file = "\(path)/web.pem"
    try Data(pem.utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let context = try DataDirectory(opening: path).serviceContext(log: EventLog { _ in })
    #expect(context.push.delivery.services == [.webPush, .webhook])
    #expect(context.push.webPushKey?.count == 65)
    await context.storage.close()
    try Data("no key".utf8).write(to: URL(filePath: file))
    let failure = #expect(throws: DataDirectoryFailure.self) {
      try DataDirectory(opening: path).serviceContext(log: EventLog { _ in })
    }
    #expect(failure?.description.contains("web.pem") == true)
  }

  @Test("a reload names changed or missing files that are read only at the start")
  func reloads() async throws {
    let parent = try TemporaryFolder()
    let path = parent.file("server")
    var settings = try Self.settings()
    settings.push = try parse(
      #"{"webhook":{"url":"https://gateway.example/push","key":"hook.pem","keyID":"signet"},"authority":"push-ca.pem"}"#
    )
    settings.openIDAuthority = "clients-ca.pem"
    let folder = try await DataDirectory.create(at: path, settings)
    func write(_ name: String, _ text: String) throws {
      let file = "\(path)/\(name)"
      try Data(text.utf8).write(to: URL(filePath: file))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }
    let authority = try CertificateAuthority()
    func key() throws -> String {
      try authority.issueServerCertificate(dnsNames: ["localhost"]).insecurePrivateKeyPEM
    }
    try write("hook.pem", key())
    for name in ["push-ca.pem", "clients-ca.pem"] { try write(name, authority.certificatePEM) }
    let capture = EventCapture()
    let context = try folder.serviceContext(log: capture.log)
    let server = try Server(context, transport: try folder.transportConfiguration())
    let reload = FolderReload(folder, of: server)
    func needed() -> [String] { capture.lines.filter { $0.contains("reload.restartNeeded") } }
    reload.run()
    #expect(needed().isEmpty)
    try write("hook.pem", key())
    reload.run()
    #expect(
      needed().count == 1 && needed()[0].contains(#""settings":"unchanged","files":"hook.pem""#),
      "\(needed())")
    try FileManager.default.removeItem(atPath: "\(path)/clients-ca.pem")
    reload.run()
    #expect(
      needed().count == 2 && needed()[1].contains(#""files":"clients-ca.pem, hook.pem""#), "\(needed())")
    await server.stop()
  }
}
