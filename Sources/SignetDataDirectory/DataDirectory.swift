package import SignetCrypto
package import SignetHTTPServer
package import SignetServer
package import SignetStorage
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An operator's data folder: settings, keys, certificates and the database of one server.
///
/// The folder has mode 0700 and its files 0600. It is created whole or not at all
/// (``create(at:_:alternativeNames:masterKeyFile:clock:)``), and checked each time it is opened.
///
/// | file | content |
/// |---|---|
/// | `server.json` | public settings (``ServerConfigurationFile``) |
/// | `ca.pem` | the certificate authority that clients trust; its key was never stored |
/// | `tls.pem`, `tls.key` | the server's certificate and key |
/// | `master.key` | 32 bytes that encrypt secrets in the database; it may be stored elsewhere |
/// | `admin.key` | the operator's API key |
/// | `signet.sqlite` | the database |
package struct DataDirectory: Sendable {
  static let settingsName = "server.json"
  static let masterKeyName = "master.key"
  static let adminKeyName = "admin.key"
  static let databaseName = "signet.sqlite"

  /// The folder's path without links, which SQLite refuses.
  package let path: String
  package let settings: ServerConfigurationFile

  /// Opens a folder: checks owner and mode of the folder and its files, and reads the settings.
  ///
  /// - Parameter path: The folder; a link to it is followed.
  /// - Throws: ``DataDirectoryFailure``.
  package init(opening path: String) throws(DataDirectoryFailure) {
    let path = Self.withoutTrailingSlashes(path)
    try Self.checkFolder(path)
    let settingsPath = "\(path)/\(Self.settingsName)"
    let text = try FolderFile(settingsPath, .plain).read()
    do throws(ServerConfigurationFile.Refusal) {
      settings = try ServerConfigurationFile(parsing: text.insecureCopy())
    } catch {
      switch error {
      case .tooNew(let found):
        throw .settingsTooNew(path: settingsPath, found: found, known: ServerConfigurationFile.format)
      case .reason(let reason): throw .settings(path: settingsPath, reason: reason)
      }
    }
    self.path = try Self.resolving(path)
    for name in [Self.masterKeyName, Self.adminKeyName, Self.databaseName] {
      try FolderFile("\(path)/\(name)", .secret).checkIfPresent()
    }
    for suffix in ["-wal", "-shm"] {
      try FolderFile(databasePath + suffix, .secret).checkIfPresent()
    }
  }

  package var databasePath: String { "\(path)/\(Self.databaseName)" }

  /// Reads the authority that clients of this server trust, PEM; `nil` if they trust the system's authorities.
  package func authorityPEM() throws(DataDirectoryFailure) -> String? {
    guard let name = settings.tls.authority else { return nil }
    return try text(name, .plain, of: "tls.authority")
  }

  /// Reads the server's certificate and its intermediates, PEM.
  package func certificatePEM() throws(DataDirectoryFailure) -> String {
    try text(settings.tls.certificate, .plain, of: "tls.certificate")
  }

  /// Reads the operator's API key, which has the scope `admin`.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  package func adminKey() throws(DataDirectoryFailure) -> SharedSecretBox {
    let adminKeyPath = "\(path)/\(Self.adminKeyName)"
    return try Self.apiKey(in: FolderFile(adminKeyPath, .secret).read(), of: adminKeyPath)
  }

  /// Reads an API key from a file that is closed to other users.
  ///
  /// - Parameter path: A file with one line of text.
  /// - Returns: The key without the newline.
  /// - Throws: ``DataDirectoryFailure``.
  package static func apiKey(at path: String) throws(DataDirectoryFailure) -> SharedSecretBox {
    try apiKey(in: FolderFile(path, .secret).read(isOutsideFolder: true), of: path)
  }

  private static func apiKey(
    in content: borrowing SecretBytes, of path: String
  ) throws(DataDirectoryFailure) -> SharedSecretBox {
    let key = content.withUInt8Span { span -> SecretBytes? in
      var count = span.count
      while count > 0, [0x0A, 0x0D].contains(span[count - 1]) { count -= 1 }
      let isVisible = (0..<count).allSatisfy { (0x21...0x7E).contains(span[$0]) }
      guard (1...256).contains(count), isVisible else { return nil }
      return SecretBytes(byteCount: count) { output in
        for index in 0..<count { output.append(span[index]) }
      }
    }
    guard let key else { throw .notAnAPIKey(path: path) }
    return SharedSecretBox(key)
  }

  /// Opens the database, migrates its schema, and reads the master key.
  ///
  /// - Parameters:
  ///   - masterKeyFile: The file with the master key; `nil` for `master.key` in the folder.
  ///   - log: The event log.
  ///   - handshakeKeys: The result of ``handshakeKeys(log:)``; `nil` if the context activates no devices.
  /// - Returns: The context for a ``Server``. The caller closes its storage.
  /// - Throws: ``DataDirectoryFailure``.
  package func serviceContext(
    masterKeyFile: String? = nil, log: EventLog, handshakeKeys: HandshakeKeys? = nil
  ) throws(DataDirectoryFailure) -> ServiceContext {
    let key = try Self.masterKey(in: path, at: masterKeyFile)
    guard constantTimeEqual(Self.check(of: key), settings.masterKeyCheck) else {
      throw .wrongMasterKey(path: masterKeyFile ?? "\(path)/\(Self.masterKeyName)")
    }
    let push = try pushSetup()
    let notices = try noticeTransport()
    let uaf = try uafSetup()
    // SQLite would create a missing file, and the server would start empty.
    let storage: Storage
    if let server = try storageOnServer() {
      storage = server
    } else {
      try requireDatabase()
      do {
        storage = try Storage(
          .file(databasePath), busyTimeoutMilliseconds: Int(settings.busyTimeout) * 1000)
      } catch { throw .storage(error) }
    }
    let settings = settings.servicePolicy(pins: [try certificatePin()])
    return ServiceContext(
      settings: settings, storage: storage, masterKey: MasterKey(key), log: log, push: push, notices: notices,
      uaf: uaf, handshakeKeys: handshakeKeys)
  }

  /// Opens the storage on a database server, whose tables must exist; `nil` if the folder has a database file.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  package func storageOnServer() throws(DataDirectoryFailure) -> Storage? {
    guard let address = settings.databaseServer else { return nil }
    do {
      return try Storage(
        .server(address), expecting: .tables, busyTimeoutMilliseconds: Int(settings.busyTimeout) * 1000)
    } catch { throw .storage(error) }
  }

  /// Rejects a missing or empty database: SQLite would treat an empty file as a new database.
  ///
  /// - Parameter isRead: True if the file is a copy that must not change.
  /// - Throws: ``DataDirectoryFailure``.
  func requireDatabase(isRead: Bool = false) throws(DataDirectoryFailure) {
    var status = stat()
    guard lstat(databasePath, &status) == 0 else { throw .fileMissing(path: databasePath) }
    guard status.st_size > 0 else { throw .databaseEmpty(path: databasePath) }
    do throws(StorageFailure) {
      guard try StorageFile.hasTables(at: databasePath, isBackup: isRead) else {
        throw StorageFailure.unknown
      }
    } catch .unknown { throw .databaseEmpty(path: databasePath) } catch { throw .storage(error) }
  }

  /// Computes SHA-256 of the SubjectPublicKeyInfo of the server's certificate, 32 bytes: the pin for devices.
  package func certificatePin() throws(DataDirectoryFailure) -> [UInt8] {
    let pem = try certificatePEM()
    do { return try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: pem) } catch {
      throw .certificate(error)
    }
  }

  /// Creates the HTTP configuration: address, port, TLS identity and limits.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  package func transportConfiguration() throws(DataDirectoryFailure) -> HTTPServerConfiguration {
    var limits = ServerLimits()
    limits.connectionCount = settings.connections.total
    limits.connectionCountPerAddress = settings.connections.perAddress
    return HTTPServerConfiguration(
      address: settings.listenAddress, port: settings.listenPort,
      security: .tls(try identity(certificateChain: certificatePEM())), limits: limits)
  }

  func identity(certificateChain: String) throws(DataDirectoryFailure) -> TLSIdentity {
    let key = try read(settings.tls.key, .secret, of: "tls.key")
    do {
      return try key.withBytes { span throws(ServerFailure) in
        try TLSIdentity(certificateChainPEM: certificateChain, privateKeyPEM: span)
      }
    } catch { throw identityRefused(error) }
  }

  /// Creates the failure for a rejected certificate or key, with the paths of their files.
  func identityRefused(_ failure: ServerFailure) -> DataDirectoryFailure {
    .identityRefused(certificate: file(settings.tls.certificate), key: file(settings.tls.key), failure)
  }
}

extension DataDirectory {
  static func withoutTrailingSlashes(_ path: String) -> String {
    var path = path[...]
    while path.count > 1, path.last == "/" { path.removeLast() }
    return String(path)
  }

  /// Returns the path without links; its target must exist.
  private static func resolving(_ path: String) throws(DataDirectoryFailure) -> String {
    guard let resolved = realpath(path, nil) else { throw .unreadable(path: path, errno: errno) }
    defer { free(resolved) }
    // A repaired text would be the path of another file.
    guard let text = String(validatingCString: resolved) else { throw .pathNotText(path: path) }
    return text
  }

  /// Returns the path without links above its last component, which need not exist.
  static func resolvingParent(of path: String) throws(DataDirectoryFailure) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let parent = try resolving(folderPath(of: path))
    return parent == "/" ? "/\(name)" : "\(parent)/\(name)"
  }

  /// Reads the master key from a separate file, or from the folder.
  static func masterKey(in folder: String, at file: String?) throws(DataDirectoryFailure) -> SecretBytes {
    let path = file ?? "\(folder)/\(masterKeyName)"
    let key: SecretBytes
    do throws(DataDirectoryFailure) {
      key = try FolderFile(path, .secret).read(isOutsideFolder: file != nil)
    } catch .fileMissing { throw .masterKeyMissing(path: path) }
    guard key.byteCount == MasterKey.byteCount else { throw .masterKeyLength(path: path) }
    return key
  }

  /// Derives 16 bytes that identify the master key; they reveal nothing else about its 256 random bits.
  static func check(of masterKey: borrowing SecretBytes) -> [UInt8] {
    HKDF.derive(
      inputKey: masterKey, salt: [], info: Array("signet master key check".utf8), byteCount: 16, .sha256
    ).insecureCopy()
  }

  private static func checkFolder(_ path: String) throws(DataDirectoryFailure) {
    do throws(FileFailure) { try FileRule(.folder).check(path) } catch {
      switch error {
      case .missing: throw .folderMissing(path: path)
      case .wrongKind: throw .noFolder(path: path)
      default: throw DataDirectoryFailure(reading: path, error)
      }
    }
  }

  /// Reads a file that a setting names.
  ///
  /// - Parameters:
  ///   - name: A name within the folder, or a full path.
  ///   - access: The access that other users may have to the file.
  ///   - setting: The path of the setting, such as `tls.key`.
  /// - Returns: The whole file.
  /// - Throws: ``DataDirectoryFailure``: ``DataDirectoryFailure/fileOfSetting(_:path:)`` if the file is missing, and
  ///   ``DataDirectoryFailure/largeFileOfSetting(_:path:)``.
  func read(
    _ name: String, _ access: FolderFile.Access, of setting: String
  ) throws(DataDirectoryFailure) -> SecretBytes {
    do throws(DataDirectoryFailure) {
      return try FolderFile(file(name), access).read(isOutsideFolder: name.hasPrefix("/"))
    } catch .fileMissing(let path) { throw .fileOfSetting(setting, path: path) } catch .tooLarge(let path) {
      throw .largeFileOfSetting(setting, path: path)
    }
  }

  /// Returns the path of a file in the folder, or of one elsewhere.
  func file(_ name: String) -> String { name.hasPrefix("/") ? name : "\(path)/\(name)" }

  /// Reads a file like ``read(_:_:of:)``, as UTF-8 text.
  func text(
    _ name: String, _ access: FolderFile.Access, of setting: String
  ) throws(DataDirectoryFailure) -> String {
    let content = try read(name, access, of: setting)
    guard let text = String(validating: content.insecureCopy(), as: UTF8.self) else {
      throw .notText(path: file(name))
    }
    return text
  }
}
