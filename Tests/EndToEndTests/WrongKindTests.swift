import Foundation
import Signet
import SignetImages
import SignetServerTesting
import SignetTestKit
import Testing

/// The messages of `signet` for a text of a kind that the command does not accept.
@Suite(.timeLimit(.minutes(10))) struct WrongKindTests {
  private let folder: TemporaryFolder
  private let device: InstalledSignet

  init() throws {
    folder = try TemporaryFolder()
    device = InstalledSignet(data: "\(folder.path)/device")
  }

  /// A text of each kind, with the message about it.
  private func samples() throws -> [(kind: String, text: String, command: String)] {
    let (server, user) = (try ServerURL("127.0.0.1:1/main"), UserID("alice"))
    let id = TransactionID("AAAAAAAAAAAAAAAAAAAAAA")
    let carried = OfflineTransaction(
      id: id, content: try TransactionContent(.text("Pay"), from: .device), expires: 1, server: server,
      user: user)
    return [
      ("an activation code", try ActivationCode.unreachable().text, "signet activate --qr FILE"),
      ("a link to a transaction", TransactionLink(id, at: server).text, "signet approve --qr FILE"),
      (
        "a transaction for a device without a network", try carried.signed(by: P256.Signing.PrivateKey()),
        "signet approve --offline FILE"
      ),
      ("the digits of a transaction", "29481736", "signet approve --typed DIGITS"),
      ("an account of an authenticator", "otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ", "signet scan FILE"),
    ]
  }

  private func write(_ bytes: [UInt8], _ name: String) throws -> String {
    try Data(bytes).write(to: URL(filePath: folder.file(name)))
    return folder.file(name)
  }

  @Test("an input of the wrong kind is refused with its kind and the right command; nothing is created")
  func named() async throws {
    let samples = try samples()
    var (texts, pictures): ([String], [String]) = ([], [])
    for (index, sample) in samples.enumerated() {
      texts.append(try write(Array("\(sample.text)\n".utf8), "text\(index)"))
      pictures.append(try write(QRCode(sample.text).png(moduleSize: 4), "picture\(index).png"))
    }
    // The kind of a text is found independently of the command. Each kind comes once as a text and once as a picture, and each
    // input of a command gets a kind that it rejects.
    let lines: [(kind: Int, words: [String])] = [
      (4, ["activate", "--code-file", texts[4]]), (0, ["approve", samples[0].text]),
      (2, ["cancel", samples[2].text]), (1, ["approve", "--offline", texts[1]]), (3, ["import", texts[3]]),
      (1, ["activate", "--qr", pictures[1]]), (3, ["activate", "--qr", pictures[3]]),
      (4, ["deny", "--qr", pictures[4]]), (0, ["approve", "--offline", pictures[0]]),
      (2, ["scan", pictures[2]]),
    ]
    for (kind, words) in lines {
      let result = try await device.run(words)
      #expect(result.isRefusal(65, "this is \(samples[kind].kind)"), "\(words): \(result.summary)")
      #expect(result.errorOutput.contains(samples[kind].command), "\(words): \(result.summary)")
    }
    #expect(!FileManager.default.fileExists(atPath: device.data))
  }

  @Test("a text in place of a file name is refused with its kind; import accepts known texts")
  func inPlaceOfFiles() async throws {
    let samples = try samples()
    let lines: [(kind: Int, words: [String])] = [
      (0, ["import", samples[0].text]), (1, ["import", samples[1].text]), (2, ["import", samples[2].text]),
      (3, ["import", samples[3].text]), (4, ["scan", samples[4].text]), (1, ["scan", samples[1].text]),
      (0, ["activate", "--code-file", samples[0].text]), (4, ["activate", "--qr", samples[4].text]),
      (2, ["approve", "--offline", samples[2].text]),
    ]
    for (kind, words) in lines {
      let result = try await device.run(words)
      #expect(result.isRefusal(65, "this is \(samples[kind].kind)"), "\(words): \(result.summary)")
      #expect(result.errorOutput.contains(samples[kind].command), "\(words): \(result.summary)")
    }
    #expect(try await device.run("import", "signet:other").status == 65)
    #expect(!FileManager.default.fileExists(atPath: device.data))
    for uri in [
      "otpauth://totp/Bank:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Bank",
      "otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXBsZTAC",
    ] {
      let taken = try await device.run("import", uri)
      #expect(taken.status == 0, "\(uri): \(taken.summary)")
    }
  }
}
