import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetServer
import SignetStorage
package import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DataDirectory {
  /// Called before each step of creating a folder, so that tests can inspect or interrupt it.
  package typealias CreationObserver = @Sendable (_ step: String) throws(DataDirectoryFailure) -> Void

  /// Creates a folder with new keys, its own certificate authority, an empty database and the operator's key.
  ///
  /// All files are written next to `path`, under its name with `.new-` and a number, synchronized to disk, and renamed last:
  /// at any moment `path` has nothing or the whole folder. A killed process can leave such a temporary folder; its keys were
  /// never used, and it can be removed.
  ///
  /// - Parameters:
  ///   - path: The path of the folder: nothing, or an empty folder. Its parent folder must exist.
  ///   - settings: The operator's settings. `tls` must have the default names.
  ///   - alternativeNames: DNS names and IP addresses for the certificate, in addition to the URL's host.
  ///   - masterKeyFile: A file with a master key, 32 bytes, which then is not stored in the folder; `nil` generates one.
  ///   - clock: The clock for the certificates and the audit log.
  /// - Returns: The opened folder.
  /// - Throws: ``DataDirectoryFailure``; no partial folder remains.
  package static func create(
    at path: String, _ settings: ServerConfigurationFile, alternativeNames: [String] = [],
    masterKeyFile: String? = nil, clock: any WallClock = SystemWallClock()
  ) async throws(DataDirectoryFailure) -> DataDirectory {
    try await create(
      at: path, settings, alternativeNames: alternativeNames, masterKeyFile: masterKeyFile, clock: clock,
      observer: { _ in })
  }

  package static func create(
    at path: String, _ settings: ServerConfigurationFile, alternativeNames: [String], masterKeyFile: String?,
    clock: any WallClock, observer: @escaping CreationObserver
  ) async throws(DataDirectoryFailure) -> DataDirectory {
    precondition(
      settings.tls == ServerConfigurationFile.TLSFiles(), "a new folder has files of the default names")
    let path = try resolvingParent(of: withoutTrailingSlashes(path))
    let draft = FolderDraft(
      path: "\(path).new-\(UInt64.random(in: 0 ... .max))", clock: clock, observer: observer)
    do throws(DataDirectoryFailure) {
      try draft.makeFolder()
      try await draft.fill(settings, alternativeNames: alternativeNames, masterKeyFile: masterKeyFile)
      try draft.rename(to: path)
    } catch {
      draft.remove()
      throw error
    }
    return try DataDirectory(opening: path)
  }
}

/// A folder under its temporary name.
private struct FolderDraft {
  let path: String
  let clock: any WallClock
  let observer: DataDirectory.CreationObserver

  func makeFolder() throws(DataDirectoryFailure) {
    try observer("folder")
    guard mkdir(path, 0o700) == 0 else { throw .unwritable(path: path, errno: errno) }
  }

  func fill(
    _ settings: ServerConfigurationFile, alternativeNames: [String], masterKeyFile: String?
  ) async throws(DataDirectoryFailure) {
    var settings = settings
    if masterKeyFile == nil {
      try write(DataDirectory.masterKeyName, SecretBytes.random(byteCount: MasterKey.byteCount))
    }
    let masterKey = try DataDirectory.masterKey(in: path, at: masterKeyFile)
    settings.masterKeyCheck = DataDirectory.check(of: masterKey)
    let pin = try writeCertificates(settings, alternativeNames)
    try observer(DataDirectory.databaseName)
    let adminKey = try await makeDatabase(
      settings.servicePolicy(pins: [pin]), MasterKey(masterKey), on: settings.databaseServer)
    try write(DataDirectory.adminKeyName, SecretBytes(copying: Array("\(adminKey)\n".utf8)))
    try write(DataDirectory.settingsName, SecretBytes(copying: settings.json.bytes(.pretty) + [0x0A]))
    try FolderFile.synchronize(folder: path)
  }

  /// - Returns: The pin of the server's certificate.
  private func writeCertificates(
    _ settings: ServerConfigurationFile, _ alternativeNames: [String]
  ) throws(DataDirectoryFailure) -> [UInt8] {
    let names = CertificateNames([settings.serverURL.host] + alternativeNames)
    let authorityPEM: String
    let certificate: CertificateAuthority.ServerCertificate
    let pin: [UInt8]
    do {
      // The authority's key exists only in this function. A renewal therefore needs a new authority, and an attacker who
      // reads the folder cannot issue a certificate that devices trust.
      let authority = try CertificateAuthority(
        commonName: String("\(DataDirectory.authorityPrefix) \(settings.serverURL.domain)".prefix(64)),
        at: clock.now)
      authorityPEM = try authority.certificatePEM
      certificate = try authority.issueServerCertificate(
        dnsNames: names.dnsNames, ipAddresses: names.ipAddresses, at: clock.now)
      pin = try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: certificate.certificatePEM)
    } catch { throw .certificate(error) }
    try write("ca.pem", SecretBytes(copying: Array(authorityPEM.utf8)))
    try write("tls.pem", SecretBytes(copying: Array(certificate.certificatePEM.utf8)))
    try certificate.privateKeyPEM.withSecret { (secret) throws(DataDirectoryFailure) in
      try write("tls.key", secret)
    }
    return pin
  }

  /// - Returns: The operator's key.
  private func makeDatabase(
    _ settings: ServicePolicy, _ masterKey: MasterKey, on databaseServer: String?
  ) async throws(DataDirectoryFailure) -> String {
    let location: StorageLocation =
      databaseServer.map { .server($0) } ?? .file("\(path)/\(DataDirectory.databaseName)")
    let storage: Storage
    do { storage = try Storage(location, expecting: .nothing) } catch { throw .storage(error) }
    let context = ServiceContext(
      settings: settings, storage: storage, masterKey: masterKey, clock: clock, log: EventLog { _ in })
    do {
      let key = try await APIKeyService(context).create(name: "operator", scopes: [.admin], by: .local)
      await storage.close()
      return key.text
    } catch {
      await storage.close()
      let problem = Dialect.problem(error, context.log)
      throw .adminKey(reason: "\(problem.code.title) \(problem.detail)")
    }
  }

  private func write(_ name: String, _ content: borrowing SecretBytes) throws(DataDirectoryFailure) {
    try observer(name)
    try FolderFile("\(path)/\(name)", .secret).create(content)
  }

  func rename(to final: String) throws(DataDirectoryFailure) {
    try observer("rename")
    try DataDirectory.place(path, at: final)
  }

  /// Removes the partial folder; errors are ignored, because the first failure is reported.
  func remove() {
    let database = DataDirectory.databaseName
    let names = [
      DataDirectory.masterKeyName, "ca.pem", "tls.pem", "tls.key", DataDirectory.adminKeyName,
      DataDirectory.settingsName, database, "\(database)-wal", "\(database)-shm", "\(database)-journal",
    ]
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }
}

extension DataDirectory {
  /// Renames a new folder to its final name; this is the only visible step.
  ///
  /// `rename` replaces an empty folder and fails for anything else.
  static func place(_ path: String, at final: String) throws(DataDirectoryFailure) {
    guard rename(path, final) == 0 else {
      switch errno {
      case EEXIST, ENOTEMPTY, ENOTDIR: throw .exists(path: final)
      case let error: throw .unwritable(path: final, errno: error)
      }
    }
    try FolderFile.synchronize(folder: folderPath(of: final))
  }
}
