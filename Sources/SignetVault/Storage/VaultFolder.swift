import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of a vault: mode 0700, owned by the user that runs the program.
struct VaultFolder {
  let path: String
  var databasePath: String { "\(path)/vault.sqlite" }
  /// The file that is locked while hardware locations are reserved.
  var locationLockPath: String { "\(path)/vault.lock" }
  /// The file that is locked from the counting of an attempt to its result.
  var attemptLockPath: String { "\(path)/vault.attempt.lock" }
  /// The file that is locked from advancing a UAF key's counter until the server has received the value.
  var counterLockPath: String { "\(path)/vault.counter.lock" }

  /// Creates the folder if it is missing, and checks it and the files in it.
  ///
  /// - Parameter create: Creates a missing folder, and missing parent folders, each with mode 0700.
  /// - Throws: ``VaultFailure``: one of the cases about the folder.
  func prepare(create: Bool) throws(VaultFailure) {
    if create { try makeFolders() }
    try check(path, .folder)
    for suffix in ["", "-wal", "-shm"] { try check(databasePath + suffix, .file) }
  }

  private func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private func makeFolders() throws(VaultFailure) {
    var missing: [String] = []
    var ancestor = path
    while !ancestor.isEmpty && !exists(ancestor) {
      missing.append(ancestor)
      guard let slash = ancestor.lastIndex(of: "/") else { break }
      ancestor = String(ancestor[..<slash])
    }
    for folder in missing.reversed() where mkdir(folder, 0o700) != 0 {
      switch errno {
      case EEXIST: continue  // another process created it first
      case EACCES, EROFS, EPERM: throw .folderReadOnly(path: folderPath(of: folder))
      case ENOSPC, EDQUOT: throw .diskFull
      case let error: throw .folderUnavailable(path: folder, errno: error)
      }
    }
    // The folder names must be on the disk before a server learns that something was stored.
    for folder in missing.reversed() {
      let parent = folderPath(of: folder)
      do throws(FileFailure) { try OpenFile.synchronizeFolder(parent) } catch {
        throw .folderUnavailable(path: parent, errno: error.code)
      }
    }
  }

  /// Rejects a file of another owner or with write access for others; removes the other users' read access.
  private func check(_ path: String, _ kind: FileRule.Kind) throws(VaultFailure) {
    let isFolder = kind == .folder
    let mode: UInt32
    do throws(FileFailure) { mode = try FileRule(kind, forbiddenMode: 0o022).check(path) } catch {
      switch error {
      case .missing where isFolder: throw .folderMissing(path: path)
      case .missing: return
      case .ownedByAnother(let owner): throw .ownedByAnother(path: path, owner: owner, user: geteuid())
      case .openToOthers: throw .writableByOthers(path: path)
      case .wrongKind where isFolder: throw .folderUnavailable(path: path, errno: ENOTDIR)
      default: throw .folderUnavailable(path: path, errno: error.code)
      }
    }
    // The last process that closes a database removes its log, at any moment.
    if mode & 0o077 != 0 && chmod(path, mode_t(mode) & (isFolder ? 0o700 : 0o600)) != 0 {
      guard errno != ENOENT || isFolder else { return }
      throw .folderUnavailable(path: path, errno: errno)
    }
    if access(path, isFolder ? R_OK | W_OK | X_OK : R_OK | W_OK) != 0 {
      guard errno != ENOENT || isFolder else { return }
      throw .folderReadOnly(path: path)
    }
  }
}
