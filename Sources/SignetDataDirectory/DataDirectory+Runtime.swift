package import SignetServer
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DataDirectory {
  /// The time between attempts to lock a folder, in microseconds, and their number: a process that is just ending is waited
  /// for.
  private static let (pause, looks): (UInt32, Int) = (20_000, 100)

  /// Creates the handshake keys of this process: in memory, or shared in the folder that `runtime` names.
  ///
  /// - Parameter log: The log that names unreadable files in that folder.
  /// - Returns: The keys for ``serviceContext(masterKeyFile:log:handshakeKeys:)``. While they exist, the data folder is in
  ///   use.
  /// - Throws: ``DataDirectoryFailure``, above all `servedElsewhere` if another process serves the folder without shared
  ///   keys.
  package func handshakeKeys(log: EventLog = .standardError) throws(DataDirectoryFailure)
    -> HandshakeKeys
  {
    let lifetime = settings.servicePolicy(pins: []).handshakeLifetime
    let hold = try hold(settings.runtime == nil ? .exclusive : .shared)
    guard let runtime = settings.runtime else { return HandshakeKeys(lifetime: lifetime, exclusion: hold) }
    return HandshakeKeys(lifetime: lifetime, store: try HandshakeKeyFolder(runtime, users: hold, log: log))
  }

  private func hold(_ mode: FolderHold.Mode) throws(DataDirectoryFailure) -> FolderHold {
    do throws(FileFailure) {
      for _ in 0..<Self.looks {
        if let hold = try FolderHold(path, mode) { return hold }
        usleep(Self.pause)
      }
    } catch { throw DataDirectoryFailure(reading: path, error) }
    throw .servedElsewhere(path: path)
  }
}
