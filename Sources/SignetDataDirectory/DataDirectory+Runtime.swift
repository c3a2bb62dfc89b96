import SignetFiles
package import SignetServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DataDirectory {
  /// Microseconds between two looks at a folder that another process holds, and how often it is looked: one that ends just now is
  /// waited for.
  private static let (pause, looks): (UInt32, Int) = (20_000, 100)

  /// The keys of the handshakes of this process: in memory, or in the folder that `runtime` names, where others have them too.
  ///
  /// - Parameter log: Where files in that folder are named that can't be read.
  /// - Returns: What ``serviceContext(masterKeyFile:log:handshakeKeys:)`` takes. Until it is gone, the data folder is in use.
  /// - Throws: ``DataDirectoryFailure``: above all `servedElsewhere`, where another process serves the folder and they share nothing.
  package func handshakeKeys(log: EventLog = .standardError) throws(DataDirectoryFailure)
    -> HandshakeKeys
  {
    let lifetime = settings.servicePolicy(pins: []).handshakeLifetime
    let hold = try hold(settings.runtime == nil ? .alone : .shared)
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
