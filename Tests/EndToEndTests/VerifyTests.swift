import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// A decision that its recipient verifies, with `signet-server transaction verify` and with standard JOSE tools.
@Suite(.serialized, .timeLimit(.minutes(10))) struct VerifyTests {
  /// A decided transaction, in files.
  private struct Decided {
    let server: RunningServer
    let answer: JSONObject
    let answerFile: String
    let contentFile: String
    let keyFile: String

    var jws: String { get throws { try answer.object("decision").string("jws") } }

    init(_ word: String = "approve") async throws {
      server = try await RunningServer.startWithShop(["--protection", "device"])
      let device = server.device()
      _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
      let made = try await server.json(
        "transaction", "create", "alice", "Pay 250.00 EUR to Jane Doe", "--key-file", server.shopKey)
      _ = try await device.json(word, "--yes")
      answer = try await server.transaction(made.string("id"))
      answerFile = try server.write(answer.text, to: "answer.json")
      contentFile = try server.write(made.string("content") + "\n", to: "content.txt")
      keyFile = try server.write(answer.object("decision").string("publicKeyPEM"), to: "alice.pem")
    }

    func verify(_ words: String...) async throws -> ServerCommand.Result {
      try await ServerCommand.run(["transaction", "verify"] + words)
    }
  }

  @Test("an answer, or a JWS with a key, is verified; an altered one is refused with the reason")
  func command() async throws {
    let decided = try await Decided()
    let good = try await decided.verify(
      decided.answerFile, "--public-key", decided.keyFile, "--content", decided.contentFile)
    #expect(good.status == 0 && good.output.contains("Pay 250.00 EUR"), good.summary)
    #expect(good.errorOutput.isEmpty, good.summary)
    let jwsFile = try decided.server.write(decided.jws + "\n", to: "jws")
    let alone = try await decided.verify(jwsFile, "--public-key", decided.keyFile, "--json")
    #expect(alone.status == 0 && alone.output.contains("\"verified\": true"), alone.summary)
    let keyless = try await decided.verify(jwsFile)
    #expect(keyless.status == 1 && keyless.errorOutput.contains("give the public key"), keyless.summary)
    let refusal = try await decided.verify(jwsFile, "--json")
    #expect(refusal.status == 1 && refusal.errorOutput.isEmpty, refusal.summary)
    let said = try JSONObject(parsing: Array(refusal.output.utf8))
    #expect(try !said.bool("verified") && said.array("objections").count == 1, refusal.summary)
    let trusting = try await decided.verify(decided.answerFile)
    #expect(trusting.status == 0 && trusting.errorOutput.contains("server's word"), trusting.summary)
    #expect(trusting.errorOutput.contains("The content was not compared"), trusting.summary)
    for (member, value, words) in [
      ("content", JSONValue.string(#"{"from":"shop","text":"Pay"}"#), "another \"content\""),
      ("status", "denied", "another \"status\""), ("user", "bob", "another \"user\""),
      ("expires", 1, "another \"expires\""), ("id", "x", "another \"id\""),
    ] {
      var changed = decided.answer
      changed[member] = value
      let refused = try await decided.verify(decided.server.write(changed.text, to: "changed.json"))
      #expect(refused.status == 1 && refused.errorOutput.contains(words), refused.summary)
    }
    let other = try decided.server.write(#"{"from":"shop","text":"Pay"}"#, to: "other.txt")
    let wrong = try await decided.verify(decided.answerFile, "--content", other)
    #expect(wrong.status == 1 && wrong.errorOutput.contains("another \"content\""), wrong.summary)
    let garbage = try await decided.verify(other, "--public-key", decided.keyFile)
    #expect(garbage.status == 1 && garbage.errorOutput.contains("no signed decision"), garbage.summary)
    let missing = try await decided.verify("/nowhere")
    #expect(missing.status == 66, missing.summary)
    await decided.server.stop()
  }

  @Test("a signed denial verifies and is not an acceptance")
  func denied() async throws {
    let decided = try await Decided("deny")
    let denied = try await decided.verify(decided.answerFile)
    #expect(denied.status == 1 && denied.output.contains("denied"), denied.summary)
    await decided.server.stop()
  }

  private static let jose = "/usr/bin/jose"

  private func run(_ program: String, _ words: [String]) async throws -> ServerCommand.Result {
    try await ChildCommand([program] + words).finish()
  }

  @Test(
    "the jose command verifies the signature, and refuses a changed character",
    .enabled(
      if: ContinuousIntegration.isHere || FileManager.default.isExecutableFile(atPath: jose),
      "needs Debian's jose"))
  func joseCommand() async throws {
    let decided = try await Decided()
    let key = try decided.server.write(
      decided.answer.object("decision").object("publicKey").text, to: "key.jwk")
    let jws = try decided.jws
    let good = try await run(
      Self.jose, ["jws", "ver", "-i", decided.server.write(jws, to: "jws"), "-k", key, "-O", "-"])
    #expect(good.status == 0, good.summary)
    #expect(
      try JSONObject(parsing: Array(good.output.utf8)).string("content")
        == decided.answer.string("content"))
    var bytes = Array(jws.utf8)
    bytes[bytes.count / 2] ^= 1
    let changed = try decided.server.write(String(decoding: bytes, as: UTF8.self), to: "changed")
    let refused = try await run(Self.jose, ["jws", "ver", "-i", changed, "-k", key])
    #expect(refused.status != 0, refused.summary)
    await decided.server.stop()
  }

  @Test(
    "a JOSE library of another language verifies the signature",
    .enabled(
      if: PythonClientTests.isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"
    ))
  func otherLibrary() async throws {
    let decided = try await Decided()
    let python = try #require(ProcessInfo.processInfo.environment["SIGNET_PYTHON"])
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Interop/verify.py").standardized.path
    let good = try await run(python, [script, decided.answerFile, decided.contentFile])
    #expect(good.status == 0 && good.output == "verified: accepted\n", good.summary)
    let other = try decided.server.write(#"{"from":"shop","text":"Pay"}"#, to: "other.txt")
    let wrong = try await run(python, [script, decided.answerFile, other])
    #expect(wrong.status != 0 && wrong.errorOutput.contains("another content was signed"), wrong.summary)
    await decided.server.stop()
  }
}
