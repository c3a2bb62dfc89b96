import SignetCrypto
import SignetJSON
import SignetServer
import SignetStorage
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The content of a copy of a data folder, and the files of the server outside it.
package struct DataDirectoryCopy: Sendable, Hashable {
  /// The path of the copy, without links.
  package let path: String
  /// The names of its files, in order; files in a subfolder have the subfolder's name in front.
  package let files: [String]
  /// Files elsewhere that the settings name; the copy does not contain them.
  package let outside: [String]
}

extension DataDirectory {
  /// Copies the folder: settings, certificates and keys, and a consistent snapshot of the database.
  ///
  /// The server may run meanwhile. The copy is a data folder itself, and is created whole or not at all. It is written next to `path`, under its name with
  /// `.new-` and a number, verified, synchronized to disk, and renamed last.
  ///
  /// - Parameters:
  ///   - path: The path of the copy: nothing, or an empty folder. Its parent folder must exist.
  ///   - hasMasterKey: True to copy the master key, if it is in the folder.
  /// - Returns: The content of the copy.
  /// - Throws: ``DataDirectoryFailure``; no partial copy remains.
  package func backUp(to path: String, withMasterKey hasMasterKey: Bool = true) throws(DataDirectoryFailure)
    -> DataDirectoryCopy
  {
    try copy(to: path, isRestored: false, hasMasterKey: hasMasterKey, observer: { _ in })
  }

  /// Creates a data folder from this one, which must be an unused copy; the copy stays unchanged.
  ///
  /// - Parameters:
  ///   - path: The path of the data folder, as for ``backUp(to:withMasterKey:)``.
  ///   - masterKeyFile: The file with the master key, if it is not in the copy.
  /// - Returns: The content of the new folder.
  /// - Throws: ``DataDirectoryFailure``; no partial folder remains. The master key must be that of the copy, and the copy
  ///   must have all files inside the folder that the settings name. Files elsewhere may be missing.
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

  /// Reads the files in the folder that the settings name, and the operator's key, which may have been removed.
  private func requireNamedFiles() throws(DataDirectoryFailure) {
    let tls = settings.tls
    var namedFiles: [(name: String?, access: FolderFile.Access, setting: String)] = [
      (tls.certificate, .plain, "tls.certificate"), (tls.key, .secret, "tls.key"),
      (tls.authority, .plain, "tls.authority"),
    ]
    namedFiles += settings.push.files.map { ($0.name, $0.access, $0.setting) }
    namedFiles.append((settings.openIDAuthority, .plain, "openID.authority"))
    for case (let name?, let access, let setting) in namedFiles where !name.hasPrefix("/") {
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

  /// Checks the path before anything is copied; the final rename also fails if something is there.
  private static func requireNothing(at path: String) throws(DataDirectoryFailure) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR, try FolderContent(path).entries.isEmpty else {
      throw .exists(path: path)
    }
  }

  /// Returns the full paths among the values of settings.
  private static func paths(in value: JSONValue) -> [String] {
    switch value {
    case .string(let text): text.hasPrefix("/") && text.count > 1 ? [text] : []
    case .array(let values): values.flatMap(paths)
    case .object(let object): object.members.filter { $0.name != "prefix" }.flatMap { paths(in: $0.value) }
    default: []
    }
  }
}

/// A copy under its temporary name.
private struct CopyDraft {
  /// The maximum size of a file other than the database; no metadata file is larger.
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

  func rename(to final: String) throws(DataDirectoryFailure) {
    try observer("rename")
    try DataDirectory.place(path, at: final)
  }

  /// Removes the partial copy; errors are ignored, because the first failure is reported.
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
    } catch {}  // the folder does not exist yet
    rmdir(path)
  }
}

/// The content of a folder, hidden files included.
private struct FolderContent {
  struct Entry {
    let name: String
    let isFolder: Bool
  }

  /// The entries, sorted by name.
  let entries: [Entry]

  /// Reads a folder that contains only files and folders.
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
