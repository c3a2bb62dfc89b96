import SignetFiles

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder that a vault lives in: mode 0700, owned by the user that runs the program.
struct VaultFolder {
  let path: String
  var databasePath: String { "\(path)/vault.sqlite" }
  /// The file that is locked while places in hardware are taken.
  var placeLockPath: String { "\(path)/vault.lock" }
  /// The file that is locked from the counting of an attempt to its result.
  var attemptLockPath: String { "\(path)/vault.attempt.lock" }
  /// The file that is locked from a number of a UAF key's counter until the server has seen it.
  var counterLockPath: String { "\(path)/vault.counter.lock" }

  /// Makes the folder where it is missing, and checks it and the file in it.
  ///
  /// - Parameter create: Whether a missing folder is made, and those above it, each with mode 0700.
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
      case EEXIST: continue  // another process was quicker
      case EACCES, EROFS, EPERM: throw .folderReadOnly(path: folderPath(of: folder))
      case ENOSPC, EDQUOT: throw .diskFull
      case let error: throw .folderUnavailable(path: folder, errno: error)
      }
    }
    // The names too must be on the disk before a server is told that something was stored.
    for folder in missing.reversed() {
      let parent = folderPath(of: folder)
      do throws(FileFailure) { try OpenFile.synchronizeFolder(parent) } catch {
        throw .folderUnavailable(path: parent, errno: error.code)
      }
    }
  }

  /// Refuses what belongs to or can be changed by others; takes away their right to read.
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
