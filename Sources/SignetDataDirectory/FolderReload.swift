import SignetCrypto
import SignetHTTPServer
import SignetJSON
package import SignetServer
import Synchronization

/// A reload of the data folder by a running server, after its operator has changed it.
///
/// | content of the folder | effect of a reload |
/// |---|---|
/// | the certificate and its key, also under other names | new connections and activation codes use the new one |
/// | the settings in ``ServerConfigurationFile/reloaded`` | apply at once |
/// | the metadata statements of UAF | are read again |
/// | all other settings, and files that they name | apply after the next start; the log names the differences |
package final class FolderReload: Sendable {
  private struct State {
    var settings: ServerConfigurationFile
    var certificateChain: String?
  }

  private let path: String
  private let server: Server
  private let started: ServerConfigurationFile
  /// The digests of the files that the settings name and that are read only at the start.
  private let files: [String: [UInt8]]
  private let state: Mutex<State>

  /// Creates a reload for a server.
  ///
  /// - Parameters:
  ///   - folder: The data folder that the server was started with.
  ///   - server: The server.
  package init(_ folder: DataDirectory, of server: Server) {
    path = folder.path
    started = folder.settings
    self.server = server
    files = Self.digests(of: folder.settings, in: folder)
    // The chain in use; the file may have been replaced since.
    state = Mutex(State(settings: folder.settings, certificateChain: server.firstCertificateChain))
  }

  /// Reads the folder again.
  ///
  /// The log names the changes that apply now, and those that need a restart. If the settings or the certificate are
  /// invalid, both stay unchanged, and the log has the reason. Metadata statements are accepted or rejected as a whole,
  /// independently.
  package func run() {
    server.readMetadata()
    do throws(DataDirectoryFailure) {
      let folder = try DataDirectory(opening: path)
      let (certificate, identity) = try folder.certificateAndIdentity()
      if let used = started.uaf?.requirements.values.sorted().first(where: {
        folder.settings.requirements[$0] == nil
      }) {
        throw .settings(
          path: path,
          reason: "\"\(used)\" of \"requirements\" is used by \"uaf\" until the server is started again")
      }
      guard folder.settings.masterKeyCheck == started.masterKeyCheck else {
        throw .settings(
          path: "\(path)/\(DataDirectory.settingsName)",
          reason:
            "\"masterKeyCheck\" was changed, and does not match the master key; restore it from a backup")
      }
      // These settings apply only at the start.
      var settings = folder.settings
      (settings.serverURL, settings.connections) = (started.serverURL, started.connections)
      let before = state.withLock { $0 }
      let isNew = identity.certificateChainPEM != before.certificateChain
      do throws(ServerFailure) {
        try server.apply(
          settings.servicePolicy(pins: [certificate.pin]), identity: isNew ? identity : nil,
          certificateEnd: certificate.end)
      } catch { throw folder.identityRefused(error) }
      folder.check(certificate, sayingIn: server.log)
      folder.checkAccountPolicies(sayingIn: server.log)
      state.withLock { $0 = State(settings: folder.settings, certificateChain: identity.certificateChainPEM) }
      let waiting = settingsForRestart(folder.settings)
      logReload(folder.settings, before: before.settings, hasNewCertificate: isNew, waiting: waiting)
      let present = Self.digests(of: started, in: folder)
      restartIsNeeded(for: waiting, files: files.keys.filter { present[$0] != files[$0] }.sorted())
    } catch { server.log.error("reload.refused", ["cause": error.description]) }
  }

  private func logReload(
    _ settings: ServerConfigurationFile, before: ServerConfigurationFile, hasNewCertificate: Bool,
    waiting: [String]
  ) {
    let (new, old) = (settings.json, before.json)
    let changed = ServerConfigurationFile.reloaded.filter { new[$0] != old[$0] }
    // A setting that waits for a restart was changed, so "unchanged" would be wrong.
    let none = waiting.isEmpty ? "unchanged" : "none applied"
    server.log.info(
      "reload.done",
      [
        "certificate": hasNewCertificate ? "new" : "unchanged",
        "settings": changed.isEmpty ? none : changed.joined(separator: ", "),
      ])
  }

  /// Returns the names of the settings that were changed since the start and apply only after a restart.
  private func settingsForRestart(_ settings: ServerConfigurationFile) -> [String] {
    let (new, first) = (settings.json, started.json)
    let names = Set(new.members.map(\.name)).union(first.members.map(\.name)).subtracting(
      ServerConfigurationFile.reloaded + ["tls"])
    return names.filter { new[$0] != first[$0] }.sorted()
  }

  private func restartIsNeeded(for changed: [String], files: [String]) {
    guard !changed.isEmpty || !files.isEmpty else { return }
    func listed(_ names: [String]) -> String { names.isEmpty ? "unchanged" : names.joined(separator: ", ") }
    server.log.error(
      "reload.restartNeeded",
      [
        "settings": listed(changed), "files": listed(files),
        "advice": "these apply from the next start of the server on",
      ])
  }

  /// Returns the digests of the files; an unreadable file has none.
  private static func digests(of settings: ServerConfigurationFile, in folder: DataDirectory) -> [String:
    [UInt8]]
  {
    var digests: [String: [UInt8]] = [:]
    for file in settings.push.files.map(\.name) + [settings.openIDAuthority].compactMap(\.self) {
      do throws(DataDirectoryFailure) {
        digests[file] = try folder.read(file, .plain, of: file).withBytes {
          HashFunction.sha256.digest(of: $0)
        }
      } catch {}  // it was readable at the start; later this counts as a change
    }
    return digests
  }
}
