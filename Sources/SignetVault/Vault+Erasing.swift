import SignetFiles
import SignetSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Vault {
  /// Deletes everything: all containers and notices, what the hardware keeps for this vault, and the files.
  ///
  /// The vault is of no use afterwards; another one can be made in the folder. If it is cut off, it can be done again, or
  /// ``erase(inFolder:)`` be used where the vault does not open any more.
  ///
  /// - Throws: ``VaultFailure``; what was deleted by then stays so.
  package func erase() throws(VaultFailure) {
    for id in try alteredContainers() { try deleteContainer(id) }
    for container in try containers(matching: .init(state: nil)) { try deleteContainer(container.id) }
    try giveBackAllPlaces()
    if let counter = tables.counter {
      do throws(KeystoreFailure) { try counter.keystore.discard(counter.name) } catch {
        throw .keystore(error)
      }
    }
    try Self.erase(inFolder: directory)
  }

  /// Gives back what deleting could not: the files are the only list of places.
  private func giveBackAllPlaces() throws(VaultFailure) {
    do {
      try tables.giveBackPlaces(of: keystore, placeLockPath)
      guard try tables.placesWithoutSlot().isEmpty else { throw VaultFailure.busy }
    } catch { throw VaultFailure(error) }
  }

  /// Deletes the files of a vault that does not open any more, after which a new one can be made.
  ///
  /// No server is told, and what hardware keeps for it stays there. The key of a software keystore goes first: what is left
  /// without it is of no use. The folder goes too where nothing else is in it.
  ///
  /// - Parameter directory: The folder of the vault.
  /// - Throws: ``VaultFailure``.
  public static func erase(inFolder directory: String) throws(VaultFailure) {
    let folder = VaultFolder(path: directory)
    let database = folder.databasePath
    let key = SoftwareKeystore.path(inFolder: directory)
    let locks = [folder.placeLockPath, folder.attemptLockPath, folder.counterLockPath]
    for path in [key, database, "\(database)-wal", "\(database)-shm"] + locks
    where unlink(path) != 0 && errno != ENOENT {
      throw errno == ENOTDIR
        ? .folderMissing(path: directory) : .folderUnavailable(path: path, errno: errno)
    }
    guard rmdir(directory) != 0 else { return }
    // Something else is in it, or the folder above may not be written to: then it stays, and what is gone stays gone.
    do throws(FileFailure) { try OpenFile.synchronizeFolder(directory) } catch {
      throw error == .missing
        ? .folderMissing(path: directory) : .folderUnavailable(path: directory, errno: error.code)
    }
  }
}
