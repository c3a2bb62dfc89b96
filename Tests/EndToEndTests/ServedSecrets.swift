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

  /// The secrets that servers share with devices and apps, read from their databases with their master keys.
  ///
  /// Secrets of an earlier look are kept.
  final class ServedSecrets: Sendable {
    private let state = Mutex(State())
    private static let exportedText = "exported text"

    private struct State {
      /// Data folders.
      var folders: [String] = []
      var known: [LastWriteSearch.Secret] = []
      /// The names of the secrets that were found in a command's memory.
      var seen: Set<String> = []

      var unseen: [LastWriteSearch.Secret] {
        known.filter { !seen.contains($0.name) && !$0.name.hasPrefix(ServedSecrets.exportedText) }
      }
    }

    /// Adds a server; each later search includes its current secrets.
    func add(_ server: RunningServer) { state.withLock { $0.folders.append(server.data) } }

    /// The number of code secrets.
    var codeCount: Int { state.withLock { $0.known.count { $0.name.hasPrefix("codes of ") } } }

    /// The names of stored secrets that were not yet found in a command's memory.
    var unseen: [String] { state.withLock { $0.unseen.map(\.name) } }

    /// All secrets, including those added since the last look.
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

    /// Records the secrets that are complete in the memory of a process.
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

    /// The secrets in a server's tables, each named by its purpose and ID.
    ///
    /// An app gets its secret as text in a URI. A container derives its secret, and an export turns it into text.
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
