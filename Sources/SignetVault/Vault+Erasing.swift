import SignetSQLite
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Vault {
  /// Deletes all containers, notices and files, and everything that the hardware keeps for this vault.
  ///
  /// The vault cannot be used afterwards; a new one can be made in the folder. If the process ends early, repeat the call.
  /// If the vault no longer opens, use ``erase(inFolder:)``.
  ///
  /// - Throws: ``VaultFailure``; the deletions made so far remain.
  package func erase() throws(VaultFailure) {
    for id in try alteredContainers() { try deleteContainer(id) }
    for container in try containers(matching: .init(state: nil)) { try deleteContainer(container.id) }
    try releaseAllLocations()
    if let counter = tables.counter {
      do throws(KeystoreFailure) { try counter.keystore.discard(counter.name) } catch {
        throw .keystore(error)
      }
    }
    try Self.erase(inFolder: directory)
  }

  /// Releases the remaining locations: the files are the only list of them.
  private func releaseAllLocations() throws(VaultFailure) {
    do {
      try tables.releaseLocations(of: keystore, locationLockPath)
      guard try tables.unusedLocations().isEmpty else { throw VaultFailure.busy }
    } catch { throw VaultFailure(error) }
  }

  /// Deletes the files of a vault that no longer opens, so that a new one can be made.
  ///
  /// No server is notified, and the hardware keeps its data for the vault. The key of a software keystore is deleted first:
  /// the other files are useless without it. The folder is removed too if it is then empty.
  ///
  /// - Parameter directory: The folder of the vault.
  /// - Throws: ``VaultFailure``.
  public static func erase(inFolder directory: String) throws(VaultFailure) {
    let folder = VaultFolder(path: directory)
    let database = folder.databasePath
    let key = SoftwareKeystore.path(inFolder: directory)
    let locks = [folder.locationLockPath, folder.attemptLockPath, folder.counterLockPath]
    for path in [key, database, "\(database)-wal", "\(database)-shm"] + locks
    where unlink(path) != 0 && errno != ENOENT {
      throw errno == ENOTDIR
        ? .folderMissing(path: directory) : .folderUnavailable(path: path, errno: errno)
    }
    guard rmdir(directory) != 0 else { return }
    // The folder stays if it has other content or its parent is not writable; then make the deletions durable.
    do throws(FileFailure) { try OpenFile.synchronizeFolder(directory) } catch {
      throw error == .missing
        ? .folderMissing(path: directory) : .folderUnavailable(path: directory, errno: error.code)
    }
  }
}
