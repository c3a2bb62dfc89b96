import SignetCrypto
import SignetFiles
import SignetJSON
import SignetServer
import SignetStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a copy of a data folder has, and what belongs to the server besides.
package struct DataDirectoryCopy: Sendable, Hashable {
  /// The copy, without links in its path.
  package let path: String
  /// The names of its files, in order; those of a folder in it with that folder's name before.
  package let files: [String]
  /// Files elsewhere that the settings name, which are not in the copy.
  package let outside: [String]
}

extension DataDirectory {
  /// Copies the folder while its server may run: settings, certificates and keys, and the database as it is at one moment.
  ///
  /// The copy is a data folder like this one, whole or not there: it is written beside `path`, under its name with `.new-` and a
  /// number, verified, put on the disk, and gets its name last.
  ///
  /// - Parameters:
  ///   - path: Where the copy will be; nothing may be there, or an empty folder. The folder above it must exist.
  ///   - hasMasterKey: Whether the master key is copied, where it is in the folder.
  /// - Returns: What was copied.
  /// - Throws: ``DataDirectoryFailure``; nothing is left then.
  package func backUp(to path: String, withMasterKey hasMasterKey: Bool = true) throws(DataDirectoryFailure)
    -> DataDirectoryCopy
  {
    try copy(to: path, isRestored: false, hasMasterKey: hasMasterKey, observer: { _ in })
  }

  /// Makes a data folder of this one, which is a copy that nothing uses; that stays as it is.
  ///
  /// - Parameters:
  ///   - path: Where the data folder will be, as for ``backUp(to:withMasterKey:)``.
  ///   - masterKeyFile: Where the master key is, if it is not in the copy.
  /// - Returns: What was copied.
  /// - Throws: ``DataDirectoryFailure``; nothing is left then. The master key has to be that of the copy, and what the settings name in
  ///   the folder has to be in the copy; files elsewhere need not be there yet.
  package func restore(to path: String, masterKeyFile: String? = nil) throws(DataDirectoryFailure)
    -> DataDirectoryCopy
  {
    let key = try Self.masterKey(in: self.path, at: masterKeyFile)
    guard constantTimeEqual(Self.check(of: key), settings.masterKeyCheck) else {
      throw .wrongMasterKey(path: masterKeyFile ?? "\(self.path)/\(Self.masterKeyName)")
    }
    try requireNamedFiles()
    return try copy(to: path, isRestored: true, hasMasterKey: true, observer: { _ in })
  }

  /// Reads what the settings name in the folder, and the operator's key, which may have been taken out.
  private func requireNamedFiles() throws(DataDirectoryFailure) {
    let (tls, push) = (settings.tls, settings.push)
    let named: [(name: String?, access: FolderFile.Access, setting: String)] = [
      (tls.certificate, .plain, "tls.certificate"), (tls.key, .secret, "tls.key"),
      (tls.authority, .plain, "tls.authority"), (push.apns?.key, .secret, "push.apns.key"),
      (push.fcm?.account, .secret, "push.fcm.account"), (push.webPush?.key, .secret, "push.webPush.key"),
      (push.webhook?.key, .secret, "push.webhook.key"), (push.authority, .plain, "push.authority"),
      (settings.openIDAuthority, .plain, "openID.authority"),
    ]
    for case (let name?, let access, let setting) in named where !name.hasPrefix("/") {
      _ = try read(name, access, of: setting)
    }
    if let metadata = settings.uaf?.metadata, !metadata.hasPrefix("/") { _ = try uafSetup() }
    do throws(DataDirectoryFailure) { _ = try adminKey() } catch .fileMissing {}
  }

  package func copy(
    to path: String, isRestored: Bool, hasMasterKey: Bool, observer: @escaping CreationObserver
  ) throws(DataDirectoryFailure) -> DataDirectoryCopy {
    guard settings.databaseServer == nil else { throw .databaseOnServer(path: self.path) }
    let path = try Self.resolvingParent(of: Self.withoutTrailingSlashes(path))
    guard !path.hasPrefix(self.path + "/") else { throw .insideItself(path: path) }
    try Self.requireNothing(at: path)
    let draft = CopyDraft(
      source: self, path: "\(path).new-\(UInt64.random(in: 0 ... .max))", observer: observer)
    do throws(DataDirectoryFailure) {
      let files = try draft.fill(isRestored: isRestored, hasMasterKey: hasMasterKey)
      try draft.rename(to: path)
      return DataDirectoryCopy(
        path: path, files: files, outside: Self.paths(in: .object(settings.json)).sorted())
    } catch {
      draft.remove()
      throw error
    }
  }

  /// Said before anything is copied; the name itself is taken by a call that refuses what is there.
  private static func requireNothing(at path: String) throws(DataDirectoryFailure) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR, try FolderContent(path).entries.isEmpty else {
      throw .exists(path: path)
    }
  }

  /// The full paths among the values of settings.
  private static func paths(in value: JSONValue) -> [String] {
    switch value {
    case .string(let text): text.hasPrefix("/") && text.count > 1 ? [text] : []
    case .array(let values): values.flatMap(paths)
    case .object(let object): object.members.filter { $0.name != "prefix" }.flatMap { paths(in: $0.value) }
    default: []
    }
  }
}

/// A copy that does not have its name yet.
private struct CopyDraft {
  /// The largest file beside the database: a folder of metadata has none that is larger.
  private static let limit = 16 << 20

  let source: DataDirectory
  let path: String
  let observer: DataDirectory.CreationObserver

  /// - Returns: The names of the files.
  func fill(isRestored: Bool, hasMasterKey: Bool) throws(DataDirectoryFailure) -> [String] {
    try source.requireDatabase(isRead: isRestored)
    try make(folder: path)
    var files: [String] = []
    for entry in try FolderContent(source.path).entries
    where !entry.name.hasPrefix(DataDirectory.databaseName) {
      guard hasMasterKey || entry.name != DataDirectory.masterKeyName else { continue }
      if entry.isFolder {
        try make(folder: "\(path)/\(entry.name)")
        for inner in try FolderContent("\(source.path)/\(entry.name)").entries {
          guard !inner.isFolder else { throw .wrongKind(path: "\(source.path)/\(entry.name)/\(inner.name)") }
          files.append(try copy("\(entry.name)/\(inner.name)"))
        }
        try FolderFile.synchronize(folder: "\(path)/\(entry.name)")
      } else {
        files.append(try copy(entry.name))
      }
    }
    try observer(DataDirectory.databaseName)
    do throws(StorageFailure) {
      try StorageFile.copy(
        source.databasePath, to: "\(path)/\(DataDirectory.databaseName)", isBackup: isRestored)
    } catch { throw .storage(error) }
    try FolderFile.synchronize(folder: path)
    return (files + [DataDirectory.databaseName]).sorted()
  }

  private func make(folder: String) throws(DataDirectoryFailure) {
    try observer(folder)
    guard mkdir(folder, 0o700) == 0 else { throw .unwritable(path: folder, errno: errno) }
  }

  private func copy(_ name: String) throws(DataDirectoryFailure) -> String {
    try observer(name)
    let content = try FolderFile("\(source.path)/\(name)", name.hasSuffix(".key") ? .secret : .plain).read(
      limit: Self.limit)
    try FolderFile("\(path)/\(name)", .secret).create(content)
    return name
  }

  /// Gives the folder its name.
  func rename(to final: String) throws(DataDirectoryFailure) {
    try observer("rename")
    try DataDirectory.place(path, at: final)
  }

  /// Removes what was made so far; best effort, for the failure that matters is already on its way.
  func remove() {
    do throws(DataDirectoryFailure) {
      for entry in try FolderContent(path).entries {
        let entryPath = "\(path)/\(entry.name)"
        if entry.isFolder {
          for inner in try FolderContent(entryPath).entries { unlink("\(entryPath)/\(inner.name)") }
          rmdir(entryPath)
        } else {
          unlink(entryPath)
        }
      }
    } catch {}  // there is none yet
    rmdir(path)
  }
}

/// What is in a folder, those that begin with a dot as well.
private struct FolderContent {
  struct Entry {
    let name: String
    let isFolder: Bool
  }

  /// In the order of the names.
  let entries: [Entry]

  /// Reads a folder, in which there are files and folders only.
  init(_ path: String) throws(DataDirectoryFailure) {
    let names: [String]
    do throws(FileFailure) { names = try FolderListing.names(in: path, areHiddenLeftOut: false) } catch {
      throw .unreadable(path: path, errno: error.code)
    }
    entries = try names.map { (name) throws(DataDirectoryFailure) in
      var status = stat()
      guard lstat("\(path)/\(name)", &status) == 0 else {
        throw .unreadable(path: "\(path)/\(name)", errno: errno)
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: return Entry(name: name, isFolder: true)
      case S_IFREG: return Entry(name: name, isFolder: false)
      default: throw .wrongKind(path: "\(path)/\(name)")
      }
    }
  }
}
