import SignetCrypto
import SignetJSON
import SignetTerminal
import SignetText
import SignetWire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `signet-server transaction verify`: what a relying party checks of a decision, without a server.
enum VerifyCommand {
  static let command = Command(
    "verify", "Verify a signed decision, without a server",
    description: """
      The file holds the server's answer about a transaction (transaction show --json), or a JWS alone. All that the answer says \
      beside the signature, but when it was made and taken, has to be what was signed.

      Whose key it is comes from the server, unless --public-key names it: keep the key of a user's first decision, and compare. \
      With --content the decision has to be about just that: keep what transaction create --json printed. The exit status is 0 where \
      all holds and the user accepted, and 1 otherwise. What was signed before transactions had a content (server databases up to \
      format 5) can't be verified here, and is said to be that.
      """,
    options: [
      .value("public-key", "The user's public key, PEM", named: "file", completion: .file),
      .value("content", "What was asked, byte for byte, in this file", named: "file", completion: .file),
    ],
    arguments: [Argument("file", "The answer or the JWS; - for standard input")],
    examples: [
      .init(
        "signet-server transaction verify answer.json --public-key alice.pem --content asked.txt",
        "Verify what alice decided")
    ]
  ) { arguments in
    let text = try InputFile.text(of: arguments.string("file")).trimmed
    let key = try arguments.optionalString("public-key").map { path throws -> P256.Signing.PublicKey in
      do { return try P256.Signing.PublicKey(pem: InputFile.text(of: path)) } catch let failure
        as CryptoFailure
      {
        throw CommandFailure(.dataError, "\(path) is no public key in PEM for P-256: \(failure)")
      }
    }
    let content = try arguments.optionalString("content").map { path throws -> String in
      // Whatever wrote the file may have ended it with a line feed; a content has none.
      var text = try InputFile.text(of: path)
      while text.last?.isNewline == true { text.removeLast() }
      return text
    }
    do throws(DecisionCheck.Failure) {
      let check = try DecisionCheck(text, key: key, content: content)
      show(check, isKeyGiven: key != nil, isContentGiven: content != nil, arguments)
      return check.decision.status == .accepted ? .success : .failure
    } catch {
      throw CommandFailure(.failure, "not verified: \(error)")
    }
  }

  private static func show(
    _ check: DecisionCheck, isKeyGiven: Bool, isContentGiven: Bool, _ arguments: Arguments
  ) {
    let decision = check.decision
    if arguments.isSet("json") {
      arguments.output.print([
        "verified": true, "status": .string(decision.status.rawValue),
        "transaction": .string(decision.transaction.text), "user": .string(decision.user.text),
        "server": .string(decision.server.fullForm), "content": .string(decision.content),
      ])
      return
    }
    arguments.output.print(fields: [
      ("Verified", "signature, header and content"), ("Status", decision.status.rawValue),
      ("Transaction", decision.transaction.text), ("User", decision.user.text),
      ("Server", decision.server.fullForm), ("Content", decision.content),
      ("Signed", "\(utc(decision.time)) by the device's clock"),
    ])
    if !isContentGiven {
      arguments.errorOutput.print(
        "The content was not compared with what was asked; name a file with that by --content.")
    }
    if !isKeyGiven {
      arguments.errorOutput.print("The key is the server's word; name the user's with --public-key.")
    }
  }
}
