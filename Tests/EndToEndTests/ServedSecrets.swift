#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetOATH
  import SignetSQLite
  import SignetServer
  import SignetStorage
  import SignetTestKit
  import Synchronization
  import Testing

  /// The secrets that servers share with devices and apps, read from their databases with their master keys: those that they have, and
  /// those that they had at an earlier look.
  final class ServedSecrets: Sendable {
    private let state = Mutex(State())
    private static let exportedText = "exported text"

    private struct State {
      /// Data folders.
      var folders: [String] = []
      var known: [LastWriteSearch.Secret] = []
      /// The names of those that a command had in its memory.
      var seen: Set<String> = []

      var unseen: [LastWriteSearch.Secret] {
        known.filter { !seen.contains($0.name) && !$0.name.hasPrefix(ServedSecrets.exportedText) }
      }
    }

    /// Adds a server; each later search includes the secrets that it has by then.
    func add(_ server: RunningServer) { state.withLock { $0.folders.append(server.data) } }

    /// The number of code secrets.
    var codeCount: Int { state.withLock { $0.known.count { $0.name.hasPrefix("codes of ") } } }

    /// The names of those that a command has stored, and that were not found in its memory so far.
    var unseen: [String] { state.withLock { $0.unseen.map(\.name) } }

    /// All of them, with those that are there since the last look.
    func all() throws -> [LastWriteSearch.Secret] {
      for folder in state.withLock(\.folders) {
        for secret in try Self.secrets(in: folder) {
          state.withLock { state in
            if !state.known.contains(where: { $0.name == secret.name }) { state.known.append(secret) }
          }
        }
      }
      return state.withLock(\.known)
    }

    /// Notes the secrets that are complete in the memory of a process.
    func look(in process: Int32) throws {
      _ = try all()
      let wanted = state.withLock(\.unseen)
      if wanted.isEmpty { return }
      let search = try MemorySearch(process: process)
      for secret in wanted { search.add(secret.name, SecretBytes(copying: secret.bytes)) }
      let found = try search.found()
      for secret in wanted where ["begin", "end"].allSatisfy({ found["\(secret.name), \($0)"] != nil }) {
        state.withLock { _ = $0.seen.insert(secret.name) }
      }
    }

    /// What is in a server's tables; each is named by what it is for and its id.
    ///
    /// A URI brings text to an app. A container derives its secret, of which an export makes text.
    private static func secrets(in folder: String) throws -> [LastWriteSearch.Secret] {
      let database = try Database(path: "\(folder)/signet.sqlite", mode: .readOnly)
      let key = try #require(FileManager.default.contents(atPath: "\(folder)/master.key"))
      let master = MasterKey(SecretBytes(copying: Array(key)))
      var secrets: [LastWriteSearch.Secret] = []
      func add(_ name: String, _ bytes: [UInt8], _ textName: String, _ text: String) {
        secrets.append(LastWriteSearch.Secret(name: name, bytes: bytes))
        secrets.append(LastWriteSearch.Secret(name: "\(textName) of \(name)", bytes: Array(text.utf8)))
      }
      for row in try database.query("SELECT id, serial, sealed_secret FROM credentials") {
        let id = try row.text("id")
        let bytes = try master.open(row.blob("sealed_secret"), for: .otpSecret(credential: ID(unchecked: id)))
          .insecureCopy()
        let isToken = try row.optionalText("serial") != nil
        add("codes of \(id)", bytes, isToken ? "text" : exportedText, Base32.encode(bytes))
      }
      for row in try database.query("SELECT id, sealed_secret FROM pushauth_mechanisms") {
        let id = try row.text("id")
        let bytes = try master.open(
          row.blob("sealed_secret"), for: .pushAuthSecret(mechanism: ID(unchecked: id))
        )
        .insecureCopy()
        add("pushes of \(id)", bytes, "text", Base64URL.encode(bytes))
      }
      return secrets
    }
  }
#endif
