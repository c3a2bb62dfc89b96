import SignetCrypto
import SignetHTTP
import SignetJSON
package import SignetServer
import Synchronization

/// What a running server takes over from its data folder when its operator has changed it.
///
/// | of the folder | |
/// |---|---|
/// | the certificate and its key, also under other names | connections from then on see the new one, and so do activation codes |
/// | the settings in ``ServerConfigurationFile/reloaded`` | hold from then on |
/// | the metadata statements of UAF | read again |
/// | all else, also what is in files that it names | holds from the next start on, and the log names what differs |
package final class FolderReload: Sendable {
  private struct State {
    var settings: ServerConfigurationFile
    var certificateChain: String?
  }

  private let path: String
  private let server: Server
  private let started: ServerConfigurationFile
  /// The digests of the files that these settings name, and that are read at the start alone.
  private let files: [String: [UInt8]]
  private let state: Mutex<State>

  /// Goes on from what a server was started with.
  ///
  /// - Parameters:
  ///   - folder: What it was started with.
  ///   - server: The server.
  package init(_ folder: DataDirectory, of server: Server) {
    (path, started, self.server) = (folder.path, folder.settings, server)
    files = Self.digests(of: folder.settings, in: folder)
    // What it shows, which is no more what the file says where that was exchanged since.
    state = Mutex(State(settings: folder.settings, certificateChain: server.firstCertificateChain))
  }

  /// Reads the folder again.
  ///
  /// The log says what holds now and what needs a restart. Where the settings or the certificate are wrong, both stay as they were,
  /// and the log says why; metadata statements are taken, or refused as a whole, by themselves.
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
          reason: "\"masterKeyCheck\" was changed, and does not fit the master key; restore it from a backup")
      }
      // What was made of these at the start cannot change.
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
      say(folder.settings, before: before.settings, hasNewCertificate: isNew)
      let present = Self.digests(of: started, in: folder)
      restartIsNeeded(for: folder.settings, files: files.keys.filter { present[$0] != files[$0] }.sorted())
    } catch { server.log.error("reload.refused", ["cause": error.description]) }
  }

  private func say(
    _ settings: ServerConfigurationFile, before: ServerConfigurationFile, hasNewCertificate: Bool
  ) {
    let (new, old) = (settings.json, before.json)
    let changed = ServerConfigurationFile.reloaded.filter { new[$0] != old[$0] }
    server.log.info(
      "reload.done",
      [
        "certificate": hasNewCertificate ? "new" : "unchanged",
        "settings": changed.isEmpty ? "unchanged" : changed.joined(separator: ", "),
      ])
  }

  private func restartIsNeeded(for settings: ServerConfigurationFile, files: [String]) {
    let (new, first) = (settings.json, started.json)
    let names = Set(new.members.map(\.name)).union(first.members.map(\.name)).subtracting(
      ServerConfigurationFile.reloaded + ["tls"])
    let others = names.filter { new[$0] != first[$0] }.sorted()
    guard !others.isEmpty || !files.isEmpty else { return }
    func listed(_ names: [String]) -> String { names.isEmpty ? "unchanged" : names.joined(separator: ", ") }
    server.log.error(
      "reload.restartNeeded",
      [
        "settings": listed(others), "files": listed(files),
        "advice": "these hold from the next start of the server on",
      ])
  }

  /// A file that cannot be read has none.
  private static func digests(of settings: ServerConfigurationFile, in folder: DataDirectory) -> [String:
    [UInt8]]
  {
    var digests: [String: [UInt8]] = [:]
    for file in settings.push.files + [settings.openIDAuthority].compactMap(\.self) {
      do throws(DataDirectoryFailure) {
        digests[file] = try folder.read(file, .plain, of: file).withBytes {
          HashFunction.sha256.digest(of: $0)
        }
      } catch {}  // at the start another read of it has succeeded; later that is a change
    }
    return digests
  }
}
