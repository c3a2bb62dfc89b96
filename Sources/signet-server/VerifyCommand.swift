import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetProtocol
import SignetServer
import SignetStorage
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `signet-server transaction verify`: verifies an answer, without a server.
enum VerifyCommand {
  static let command = Command(
    "verify", "Verify a signed answer, without a server",
    description: """
      The file holds the server's answer about a transaction (transaction show --json), or the JWS of a \
      container alone. Transaction, user, status, content and key of the answer must match what was signed; \
      for answers by UAF and apps also the times of creation, expiration and answer.

      A container, or a UAF authenticator, signs by a key of the user's. The server says whose key it is, \
      unless --public-key names a key for P-256: keep the key of a user's first decision, and compare. With \
      --content the answer must be about exactly that content: keep what transaction create --json printed. \
      When a UAF authenticator or an app answered, and which transaction, the server has signed: \
      --server-key names the server's keys.

      An app answers with a key that the server has too. Such an answer can be verified only on the server's \
      machine, with --data, and proves nothing to others, since the server could have made it itself. The \
      exit status is 0 if everything is valid and the user accepted, and 1 otherwise; with --json, verified \
      says whether everything is valid, and objections what is not.

      What was signed before transactions had a content (server databases up to format 5) can't be verified \
      here; the command says so.
      """,
    options: [
      .value("public-key", "The user's public key, PEM", named: "file", completion: .file),
      .value("content", "What was asked, byte for byte, in this file", named: "file", completion: .file),
      .value(
        "server-key", "The server's public key, PEM, or its keys as GET /v1/jwks gives them", named: "file",
        completion: .file),
    ],
    arguments: [Argument("file", "The answer or the JWS; - for standard input")],
    examples: [
      .init(
        "signet-server transaction verify answer.json --public-key alice.pem --content asked.txt",
        "Verify what alice decided")
    ]
  ) { arguments in
    let text = try InputFile.text(of: arguments.string("file")).trimmed
    let key = try arguments.optionalString("public-key").map { try publicKey(in: $0) }
    let content = try arguments.optionalString("content").map { path throws -> String in
      // The file may end with line feeds; the content has none.
      var text = try InputFile.text(of: path)
      while text.last?.isNewline == true { text.removeLast() }
      return text
    }
    var keyMaterial = ServerKeyMaterial(
      serverKeys: try arguments.optionalString("server-key").map { try serverKeys(in: $0) })
    if let data = arguments.optionalString("data") { try await keyMaterial.read(data, text) }
    do throws(EvidenceCheck.Failure) {
      let check = try EvidenceCheck(
        text, key: key, content: content, serverKeys: keyMaterial.serverKeys, sharedKey: keyMaterial.sharedKey
      )
      show(check, key: key != nil, content: content != nil, server: keyMaterial.serverKeys != nil, arguments)
      return check.status == .accepted ? .success : .failure
    } catch {
      let remedy = error == .sharedKeyMissing ? "; name the server's data folder with --data" : ""
      guard arguments.isSet("json") else {
        throw CommandFailure(.failure, "not verified: \(error)\(ours: remedy)")
      }
      arguments.output.print(["verified": false, "objections": [.string("\(error)\(remedy)")]])
      return .failure
    }
  }

  private struct ServerKeyMaterial {
    /// The server's signing keys; `nil` if they are unknown.
    var serverKeys: [P256.Signing.PublicKey]?
    /// The key that the server shares with the answering app.
    var sharedKey: EvidenceCheck.SharedKey?

    mutating func read(_ data: String, _ text: String) async throws {
      let context = try DataDirectory(opening: data).serviceContext(
        masterKeyFile: Environment.masterKeyFile, log: .standardError)
      do {
        let hasStatement = VerifyCommand.hasStatement(text)
        if serverKeys == nil, hasStatement {
          serverKeys = try await SigningKeyService(context).published().keys
        }
        if let id = VerifyCommand.transaction(in: text) {
          sharedKey = try await EvidenceCheck.SharedKey(ofTransaction: id, context)
        }
        await context.storage.close()
      } catch {
        await context.storage.close()
        throw CommandFailure(Dialect.problem(error, context.log))
      }
    }
  }

  /// Returns the transaction that an answer names; `nil` if it names none.
  private static func transaction(in text: String) -> TransactionID? {
    do { return TransactionID(checking: try JSONObject(parsing: Array(text.utf8)).string("id")) } catch {
      return nil
    }
  }

  /// Returns true if a server's statement must be verified: a container's decision has none.
  private static func hasStatement(_ text: String) -> Bool {
    do { return try JSONObject(parsing: Array(text.utf8)).contains("evidence") } catch { return false }
  }

  private static func publicKey(in path: String) throws -> P256.Signing.PublicKey {
    do { return try P256.Signing.PublicKey(pem: InputFile.text(of: path)) } catch let failure
      as CryptoFailure
    {
      throw CommandFailure(.dataError, "\(path) is not a public key in PEM for P-256: \(failure)")
    }
  }

  private static func serverKeys(in path: String) throws -> [P256.Signing.PublicKey] {
    let text = try InputFile.text(of: path).trimmed
    guard text.hasPrefix("{") else { return [try publicKey(in: path)] }
    do throws(WireFailure) { return try ServerKeySet(parsing: Array(text.utf8)).keys } catch {
      throw CommandFailure(.dataError, "\(path) has no keys of a server: \(error)")
    }
  }

  // MARK: What is shown

  private static func show(
    _ check: EvidenceCheck, key isKeyGiven: Bool, content isContentGiven: Bool, server isServerKnown: Bool,
    _ arguments: Arguments
  ) {
    if arguments.isSet("json") {
      var object: JSONObject = [
        "verified": true, "kind": .string(check.kind.rawValue),
        "proof": .string(check.kind == .app ? "sharedKey" : "signature"),
        "provesToOthers": .bool(check.kind != .app && isKeyGiven), "status": .string(check.status.rawValue),
        "transaction": .string(check.transaction), "user": .string(check.user),
        "server": .string(check.server), "content": .string(check.content), "time": .integer(check.time),
        "contentGiven": .bool(isContentGiven), "publicKeyGiven": .bool(isKeyGiven),
        "serverKeyGiven": .bool(isServerKnown),
      ]
      object["shown"] = check.shown.map { .string($0) }
      arguments.output.print(object)
    } else {
      var fields = [
        ("Verified", verified(check.kind)), ("Proves", proves(check.kind)), ("Status", check.status.rawValue),
        ("Transaction", check.transaction), ("User", check.user), ("Server", check.server),
        ("Content", check.content),
      ]
      if let shown = check.shown { fields.append(("Shown", shown)) }
      arguments.output.print(fields: fields + [time(check)])
    }
    if !isContentGiven {
      arguments.errorOutput.print(
        "The content was not compared with what was asked; name a file with that by --content.")
    }
    if check.kind != .app, !isKeyGiven {
      arguments.errorOutput.print("The key is the server's word; name the user's with --public-key.")
    }
    if check.kind != .container, !isServerKnown {
      arguments.errorOutput.print("The server's key is the file's word; name the server's with --server-key.")
    }
  }

  private static func verified(_ kind: EvidenceCheck.Kind) -> String {
    switch kind {
    case .container: "signature, header and content"
    case .uaf: "signature of the assertion, final challenge and text; the server's statement"
    case .app: "the app's code over its answer, and the message; the server's statement"
    }
  }

  private static func proves(_ kind: EvidenceCheck.Kind) -> String {
    switch kind {
    case .container: "to anybody: a key has signed this content, as this transaction's"
    case .uaf:
      "to anybody: a key has confirmed this text; to who believes the server: that it is the user's, for which transaction, and when"
    case .app:
      "to the server alone: the app's key is the server's too, which could have made the answer itself"
    }
  }

  private static func time(_ check: EvidenceCheck) -> (String, String) {
    check.kind == .container
      ? ("Signed", "\(utc(check.time)) by the device's clock")
      : ("Taken", "\(utc(check.time)) by the server's clock")
  }
}
