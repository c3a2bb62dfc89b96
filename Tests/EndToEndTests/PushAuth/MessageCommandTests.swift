import Foundation
import PushFixture
import Signet
import SignetCrypto
import SignetJSON
import SignetServer
import SignetTestKit
import Testing

/// The built `signet import` and `signet message`, with a Python server that was written from the protocol's description alone.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: PythonPeer.isWanted)) struct MessageCommandTests {
  private let folder: TemporaryFolder
  private let peer: PythonPeer
  private let device: InstalledSignet

  init() throws {
    folder = try TemporaryFolder()
    let authority = try CertificateAuthority()
    let identity = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    for (name, text) in [
      ("server.pem", identity.certificatePEM), ("server.key", identity.insecurePrivateKeyPEM),
      ("ca.pem", try authority.certificatePEM),
    ] { try Data(text.utf8).write(to: URL(filePath: folder.file(name))) }
    peer = try PythonPeer(
      "am_server.py",
      ["certificate": .string(folder.file("server.pem")), "key": .string(folder.file("server.key"))])
    device = InstalledSignet(data: folder.file("device"), authority: folder.file("ca.pem"))
  }

  private func uri(_ scheme: String, _ more: JSONObject = [:]) throws -> String {
    var order: JSONObject = [
      "scheme": .string(scheme), "issuer": "ForgeRock", "account": "demo@example.com",
    ]
    for member in more.members { order[member.name] = member.value }
    return try peer("enrol", .object(order)).string("uri")
  }

  /// Writes a message of the only mechanism to a file, as a gateway would.
  private func message(_ more: JSONObject = [:], to name: String = "push.json") throws -> (
    file: String, id: String, aps: JSONObject
  ) {
    var order: JSONObject = [
      "mechanism": .string(try peer("state", "").strings("mechanisms").first ?? ""), "kind": "default",
      "text": "Log in?",
    ]
    for member in more.members { order[member.name] = member.value }
    let made = try peer("message", .object(order))
    let file = try write(["aps": .object(made)], name)
    return (file, try made.string("messageId"), made)
  }

  private func write(_ object: JSONObject, _ name: String) throws -> String {
    try Data(object.bytes).write(to: URL(filePath: folder.file(name)))
    return folder.file(name)
  }

  private func state(_ id: String) throws -> String { try peer("state", .string(id)).string("state") }

  private func listed(_ words: String...) async throws -> [JSONObject] {
    let result = try await device.run(["message", "list", "--json"] + words)
    try #require(result.status == 0, result.summary)
    return try JSONObject(parsing: Array(result.output.utf8)).array("messages").compactMap {
      if case .object(let object) = $0 { object } else { nil }
    }
  }

  @Test("enrolled by either URI, a device receives, shows, approves, denies and deletes")
  func wholeLife() async throws {
    let untold = try await device.run("import", try uri("pushauth"))
    #expect(untold.isRefusal(64, "--push-token"), untold.summary)
    let service = try await device.run(
      "import", try uri("pushauth"), "--push-token", "AB", "--push-service", "x")
    #expect(service.isRefusal(64, "apns"), service.summary)
    let enrolled = try await device.json(
      "import", try uri("mfauth", ["policies": ["appsOwn": [:]]]), "--push-token", "AABB")
    #expect(try enrolled.string("issuer") == "ForgeRock" && enrolled.bool("push"))
    #expect(try enrolled.integer("codes") == 1 && enrolled.strings("policies") == ["appsOwn"])
    #expect(try await device.run("otp", "ForgeRock").output.count == 9)
    let again = try await device.run("import", try uri("pushauth"))
    #expect(again.isRefusal(65, "are already enrolled"), again.summary)
    let delete = try "signet account delete \(enrolled.string("id").prefix(8))"
    #expect(again.errorOutput.contains(delete), again.summary)
    #expect(try await device.run("message", "list").errorOutput == "No message was received.\n")
    #expect(try await device.run("message", "list", "--pending").errorOutput == "No message waits.\n")

    let first = try message(["context": "{\"location\":1}", "payload": "more"])
    let received = try await device.json("message", "receive", first.file)
    #expect(try received.string("id") == first.id && received.string("kind") == "default")
    #expect(try received.string("text") == "Log in?" && received.string("status") == "pending")
    #expect(try received.string("issuer") == "ForgeRock" && received.string("name") == "demo@example.com")
    #expect(try received.integer("expires") - received.integer("received") <= 120)
    let twice = try await device.run("message", "receive", first.file)
    #expect(
      twice.status == 0
        && twice.output.hasPrefix(
          "Received before.\nMessage \(first.id): approve or deny\n  from    ForgeRock ("),
      twice.summary)
    #expect(try await listed("--pending").count == 1)
    #expect(try await device.json("message", "show", first.id).string("status") == "pending")
    let number = try await device.run("message", "approve", "--number", "12")
    #expect(number.status == 64 && number.errorOutput.contains("without a number"), number.summary)
    // A single pending message needs no name; the output first shows what is approved.
    let approved = try await device.run("message", "approve")
    #expect(approved.status == 0 && approved.output == "Approved.\n", approved.summary)
    #expect(
      approved.errorOutput.contains(
        "Message \(first.id): approve or deny\n  from    ForgeRock (demo@example.com)\n  | Log in?\n"))
    #expect(try state(first.id) == "approved")
    let late = try await device.run("message", "approve", first.id)
    #expect(late.status == 1 && late.errorOutput.contains("answered before"), late.summary)
    let nothing = try await device.run("message", "deny")
    #expect(nothing.isRefusal(1, "no message waits"), nothing.summary)

    let (second, third) = (try message(to: "2.json"), try message(to: "3.json"))
    for file in [second.file, third.file] { _ = try await device.json("message", "receive", file) }
    let several = try await device.run("message", "deny")
    #expect(several.isRefusal(64, "2 messages wait; name one"), several.summary)
    let denied = try await device.json("message", "deny", second.id)
    #expect(try denied.string("decision") == "denied" && denied.string("issuer") == "ForgeRock")
    #expect(try state(second.id) == "denied")
    #expect(try await listed().map { try $0.string("status") } == ["pending", "denied", "approved"])

    #expect(try await device.json("message", "delete", third.id).string("deleted") == third.id)
    let gone = try await device.run("message", "delete", third.id)
    #expect(gone.isRefusal(65, "signet message list shows"), gone.summary)
    for words in [["show", third.id], ["approve", third.id], ["deny", third.id]] {
      let result = try await device.run(["message"] + words)
      #expect(result.isRefusal(65, "there is no message of this id"), result.summary)
    }
    let back = try await device.json("message", "receive", third.file)
    #expect(try back.bool("forgotten"))
    #expect(try await listed().count == 2)
  }

  @Test("numbers are prompted for, checked and retried") func numbers() async throws {
    _ = try await device.json("import", try uri("pushauth"), "--push-token", "AABB")
    let made = try message(["kind": "challenge", "numbers": [12, 34, 56], "right": 34])
    let received = try await device.json("message", "receive", made.file)
    #expect(received["numbers"] == [12, 34, 56])
    let unasked = try await device.run("message", "approve", made.id)
    #expect(unasked.status == 64 && unasked.errorOutput.contains("--number"), unasked.summary)
    for typed in ["abc", "", "12345678901", "-1"] {
      let result = try await device.run("message", "approve", made.id, "--number=\(typed)")
      #expect(result.isRefusal(64, "--number"), result.summary)
    }
    let wrong = try await device.run("message", "approve", made.id, "--number", "12")
    #expect(wrong.status == 77 && wrong.output.isEmpty, wrong.summary)
    #expect(try await listed("--pending").count == 1 && state(made.id) == "pending")
    #expect(try await device.run("message", "approve", made.id, "--number", "34").output == "Approved.\n")
    #expect(try state(made.id) == "approved")
  }

  @Test("a required user verification is done by the device; a denial requires none")
  func recognition() async throws {
    _ = try await device.json("import", try uri("pushauth"), "--push-token", "AABB")
    let made = try message(["kind": "biometric"])
    _ = try await device.json("message", "receive", made.file)
    // Without a bus and a terminal, neither a finger nor a passcode can be presented.
    let result = try await device.run("message", "approve", made.id)
    #expect(result.status != 0 && result.output.isEmpty, result.summary)
    #expect(try state(made.id) == "pending")
    #expect(try await listed("--pending").count == 1)
    #expect(try await device.run("message", "deny", made.id).output == "Denied.\n")
    #expect(try state(made.id) == "denied")
  }

  @Test("malformed, forged and misdirected messages are refused with the cause, and not stored")
  func refused() async throws {
    _ = try await device.json("import", try uri("pushauth"), "--push-token", "AABB")
    let before = try message(to: "known.json")
    _ = try await device.json("message", "receive", before.file)
    let stored = try await listed()
    let mechanism = try peer("state", "").strings("mechanisms")[0]
    // A message of another server, or of this one with changed content.
    func forged(_ more: JSONObject) throws -> JSONObject {
      var order: JSONObject = ["mechanism": .string(mechanism), "kind": "default"]
      for member in more.members { order[member.name] = member.value }
      return ["aps": .object(try peer("forge", .object(order)))]
    }
    let plain = try forged([:])
    guard case .object(let aps)? = plain["aps"] else { throw JSONFailure.notAnObject }
    let parts = try aps.string("data").split(separator: ".").map(String.init)
    let cases: [(name: String, push: JSONObject, says: String)] = [
      ("another key", try forged(["key": "other"]), "signature"),
      ("no algorithm", try forged(["header": ["alg": "none", "typ": "JWT"]]), "token was refused"),
      ("another algorithm", try forged(["header": ["alg": "HS512", "typ": "JWT"]]), "token was refused"),
      ("a signature of RSA", try forged(["header": ["alg": "RS256", "typ": "JWT"]]), "token was refused"),
      (
        "a critical header", try forged(["header": ["alg": "HS256", "crit": ["x"], "x": 1]]),
        "token was refused"
      ),
      (
        "another mechanism", try forged(["claims": ["u": "00000000-0000-0000-0000-000000000000"]]),
        "no account"
      ),
      ("another user", try forged(["claims": ["d": "mallory"]]), "another user"),
      ("no challenge", try forged(["claims": ["c": .null]]), "challenge (c) is missing"),
      ("a challenge that is none", try forged(["claims": ["c": "!!"]]), "challenge (c)"),
      ("no time to live", try forged(["claims": ["t": .null]]), "time to live (t) is missing"),
      ("a time to live of ever", try forged(["claims": ["t": "1e99"]]), "time to live (t)"),
      ("no load balancer", try forged(["claims": ["l": .null]]), "load balancer (l) is missing"),
      (
        "a text longer than pushes are",
        try forged(["claims": ["m": .string(String(repeating: "a", count: 9000))]]), "message (m)"
      ),
      (
        "the content of another",
        ["aps": ["messageId": "AUTHENTICATE:other", "data": before.aps["data"] ?? .null]],
        "received before"
      ),
      (
        "another content", ["aps": ["messageId": .string(before.id), "data": aps["data"] ?? .null]],
        "received before"
      ),
      (
        "a message id of control characters",
        ["aps": ["messageId": "a\u{1B}[2J", "data": aps["data"] ?? .null]], "message id"
      ),
      ("no message id", ["aps": ["data": aps["data"] ?? .null]], "message id is missing"),
      ("no token", ["aps": ["messageId": "M"]], "data is missing"),
      (
        "two parts", ["aps": ["messageId": "M", "data": .string("\(parts[0]).\(parts[1])")]],
        "token was refused"
      ),
      (
        "four parts", ["aps": ["messageId": "M", "data": .string(parts.joined(separator: ".") + ".x")]],
        "token was refused"
      ),
      (
        "a body that was changed",
        ["aps": ["messageId": "M", "data": .string("\(parts[0]).e30.\(parts[2])")]], "missing"
      ),
      ("nothing", [:], "missing"),
    ]
    for (name, push, says) in cases {
      let result = try await device.run("message", "receive", try write(push, "hostile.json"))
      #expect(result.isRefusal(65, says), "\(name): \(result.summary)")
      #expect(!result.errorOutput.contains("mallory"))
    }
    for (name, bytes) in [
      ("empty", Data()), ("no UTF-8", Data([0xFF, 0xFE])), ("no JSON", Data("{".utf8)),
      ("deep", Data(String(repeating: "[", count: 20_000).utf8)),
      ("long", Data(repeating: 0x20, count: 40_000)),
      ("text", Data("hello".utf8)),
    ] {
      try bytes.write(to: URL(filePath: folder.file("raw")))
      let result = try await device.run("message", "receive", folder.file("raw"))
      #expect(result.status == 65 && result.output.isEmpty, "\(name): \(result.summary)")
      #expect(!result.errorOutput.contains("serialization"), "\(name): \(result.summary)")
    }
    let missing = try await device.run("message", "receive", folder.file("nowhere"))
    #expect(missing.status == 66, missing.summary)
    // None of these messages is stored.
    #expect(try await listed() == stored)
    // The valid message is still accepted.
    _ = try await device.json("message", "receive", try write(plain, "good.json"))
    #expect(try await listed().count == 2)
  }

  @Test("a device token that the server did not accept is sent again") func tokens() async throws {
    let nobody = try await device.json("message", "token")
    #expect(try nobody.integer("failed") == 0)
    #expect(try await device.run("message", "token").output.contains("No account with push messages"))
    _ = try await device.json("import", try uri("pushauth"), "--push-token", "AABB")
    let mechanism = try peer("state", "").strings("mechanisms")[0]
    func token() throws -> String { try peer("state", .string(mechanism)).string("device") }
    #expect(try token() == "AABB")
    _ = try peer("fail", 2)
    let failed = try await device.run("message", "token", "--push-token", "CCDD", "--json")
    #expect(failed.status == 69, failed.summary)
    #expect(try JSONObject(parsing: Array(failed.output.utf8)) == ["failed": 1, "due": 1])
    #expect(failed.errorOutput.contains("503") && failed.errorOutput.contains("ForgeRock"))
    let second = try await device.run("message", "token")
    #expect(
      second.status == 69 && second.output.hasPrefix("Servers that do not have it yet: 1. To try again"),
      second.summary)
    #expect(try token() == "AABB")
    #expect(try await device.run("message", "token").output == "All servers have it.\n")
    #expect(try token() == "CCDD")
    let odd = try await device.run("message", "token", "--push-token", "a b")
    #expect(odd.isRefusal(65, "device token"), odd.summary)
  }

  @Test("messages are deleted on request, and not accepted again") func cleanUp() async throws {
    _ = try await device.json("import", try uri("pushauth"), "--push-token", "AABB")
    var files: [String] = []
    for number in 1...4 {
      files.append(try message(to: "\(number).json").file)
      _ = try await device.json("message", "receive", files[number - 1], "--keep-all")
    }
    #expect(try await listed().count == 4)
    let fifth = try message(to: "5.json")
    _ = try await device.json("message", "receive", fifth.file, "--keep-count", "2", "--keep-days", "30")
    let left = try await listed()
    #expect(left.count == 2 && left[0]["id"] == .string(fifth.id))
    #expect(try await device.json("message", "receive", files[0]).bool("forgotten"))
    let sixth = try message(to: "6.json")
    _ = try await device.json("message", "receive", sixth.file, "--keep-count", "1")
    #expect(try await listed().map { try $0.string("id") } == [sixth.id])
    _ = try await device.json("message", "receive", try message(to: "7.json").file, "--keep-days", "1")
    #expect(try await listed().count == 2)
    for words in [["--keep-all", "--keep-count", "1"], ["--keep-count", "0"], ["--keep-days", "x"]] {
      let result = try await device.run(["message", "receive", fifth.file] + words)
      #expect(result.isRefusal(64, "--keep"), result.summary)
    }
  }

  @Test("hostile URIs are refused with their cause, no server is asked, and nothing is stored")
  func hostileURIs() async throws {
    let good = try uri("mfauth")
    func with(_ name: String, _ value: String?) -> String {
      let parts = good.split(separator: "?", maxSplits: 1)
      let query = parts[1].split(separator: "&").filter { !$0.hasPrefix("\(name)=") }.map(String.init)
      return "\(parts[0])?" + (query + (value.map { ["\(name)=\($0)"] } ?? [])).joined(separator: "&")
    }
    func encoded(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }
    // Each kind of rejection; URITests and AuthenticatorURIFormTests of SignetOATHTests have the parser's other cases.
    let cases: [(name: String, uri: String, says: String)] = [
      ("10 MB", good + "&x=" + String(repeating: "a", count: 10 << 20), ""),
      ("a parameter of 9 KB", with("image", String(repeating: "a", count: 9000)), "image"),
      ("65 parameters", good + (0..<65).map { "&p\($0)=1" }.joined(), "parameters"),
      ("no registration", with("r", nil), "r (endpoint) is missing"),
      ("no challenge", with("c", nil), "c (challenge)"),
      ("no message id", with("m", nil), "m (message id)"),
      ("a secret that is no Base32", with("secret", "0189"), "secret"),
      ("a shared secret that is short", with("s", "AAAA"), "shared secret has 3 bytes"),
      ("a shared secret that is none", with("s", "%21%21"), "s (shared secret)"),
      ("plain HTTP", with("r", encoded("http://127.0.0.1/push?_action=register")), "https"),
      ("two hosts", with("a", encoded("https://other.example/push?_action=authenticate")), "different hosts"),
      ("a user in the URL", with("r", encoded("https://a@127.0.0.1/push")), "registration endpoint"),
      ("a file", with("r", encoded("file:///etc/passwd")), "r (endpoint)"),
      ("a script as picture", with("image", "javascript:alert(1)"), "script"),
      ("a script three layers down", with("image", "%256a%2561vascript:alert(1)"), "script"),
      ("a way out of a folder", with("image", "https://x/../../etc"), "folder"),
      ("control characters", with("b", "%00"), "b"),
      ("no UTF-8", with("b", "%FF"), "UTF-8"),
      ("a parameter twice", good + "&m=other", "m"),
      ("digits", with("digits", "11"), "digits"), ("MD5", with("algorithm", "MD5"), "MD5"),
      (
        "policies that are malformed", with("policies", encoded(#"{"deviceTampering":{"score":7}}"#)),
        "deviceTampering"
      ),
      (
        "policies that are broken", with("policies", encoded(#"{"appIsUpToDate":{"minimumVersion":"999"}}"#)),
        ""
      ),
      ("another type", good.replacing("mfauth://totp", with: "mfauth://ocra"), "ocra"),
    ]
    for (name, uri, says) in cases {
      let file = folder.file("uri")
      try Data(uri.utf8).write(to: URL(filePath: file))
      let result = try await device.run("import", file, "--push-token", "AABB")
      #expect([64, 65, 77].contains(result.status) && result.output.isEmpty, "\(name): \(result.summary)")
      #expect(says.isEmpty || result.errorOutput.contains(says), "\(name): \(result.errorOutput.prefix(400))")
      #expect(result.errorOutput.utf8.count < 2000)
    }
    #expect(try peer("state", "").strings("mechanisms").isEmpty)
    #expect(try await listed().isEmpty)
    #expect(try await device.json("account", "list").array("accounts").isEmpty)
    #expect(try await device.json("import", good, "--push-token", "AABB").bool("push"))
  }
}
