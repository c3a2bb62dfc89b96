import SignetCrypto
import SignetServer
import SignetSystem
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The handshake keys that the processes of one machine share: one file each, in a memory-backed folder.
struct HandshakeKeyFolder: HandshakeKeyStore {
  private static let prefix = "handshake-"
  /// The size of a file: its creation time, 8 bytes big-endian, and the key.
  private static let byteCount = 40

  /// The maximum number of bad files that the log names.
  private static let maximumReportedCount = 100

  private let path: String
  private let opened: Opened
  /// The lock that tells which processes use the data folder.
  private let users: FolderHold
  private let log: EventLog
  private let reported = ReportedNames()

  private final class ReportedNames: Sendable {
    let names = Mutex<Set<String>>([])
  }

  private final class Opened: Sendable {
    let folder: Mutex<OpenFolder>
    init(_ folder: OpenFolder) { self.folder = Mutex(folder) }
  }

  /// Opens a folder, and creates it with mode 0700 if it is missing.
  ///
  /// The folder is checked through its open descriptor, and its files are opened relative to it, so that nothing can be
  /// substituted. If it is deleted while a server runs, the next use creates it again.
  ///
  /// - Throws: ``DataDirectoryFailure``, above all `notInMemory`.
  init(_ path: String, users: FolderHold, log: EventLog) throws(DataDirectoryFailure) {
    self.path = path
    self.users = users
    self.log = log
    opened = Opened(try Self.open(path))
  }

  /// Opens or creates the folder; a new one that fails the check is removed.
  private static func open(_ path: String) throws(DataDirectoryFailure) -> OpenFolder {
    let isCreated = mkdir(path, 0o700) == 0
    guard isCreated || errno == EEXIST else { throw .unwritable(path: path, errno: errno) }
    do throws(DataDirectoryFailure) { return try verified(path) } catch {
      if isCreated { rmdir(path) }  // errors are ignored: the first failure is reported
      throw error
    }
  }

  private static func verified(_ path: String) throws(DataDirectoryFailure) -> OpenFolder {
    do throws(FileFailure) {
      let folder = try OpenFolder(path, as: FileRule(.folder))
      if try folder.isInMemory() { return folder }
    } catch { throw DataDirectoryFailure(reading: path, error) }
    throw .notInMemory(path: path)
  }

  /// Returns the folder; creates it again if it was deleted.
  private func folder() throws -> OpenFolder {
    try opened.folder.withLock { folder in
      if try folder.isDeleted() { folder = try Self.open(path) }
      return folder
    }
  }

  /// Reads all present keys; an unreadable file is skipped, and the log names it once.
  func keys() throws -> [HandshakeKeys.Key] {
    let folder = try folder()
    var keys: [HandshakeKeys.Key] = []
    for name in try folder.names() where name.hasPrefix(Self.prefix) {
      guard let id = Self.id(in: name) else { continue }
      do throws(FileFailure) {
        if let key = try Self.key(id, in: folder) { keys.append(key) }
      } catch { report(name, error) }
    }
    return keys
  }

  private func report(_ name: String, _ failure: FileFailure) {
    let isNew = reported.names.withLock { $0.count < Self.maximumReportedCount && $0.insert(name).inserted }
    guard isNew else { return }
    log.error("handshakes.fileRefused", ["file": name, "cause": "\(failure)"])
  }

  /// Reads the key with an id; `nil` if there is none, or it is being written.
  func key(_ id: [UInt8]) throws -> HandshakeKeys.Key? { try Self.key(id, in: folder()) }

  private static func key(_ id: [UInt8], in folder: OpenFolder) throws(FileFailure) -> HandshakeKeys.Key? {
    let content: SecretBytes
    do throws(FileFailure) {
      let file = try folder.reading(name(of: id), as: FileRule())
      guard try file.byteCount(limit: byteCount) == byteCount else { return nil }
      content = try SecretBytes(byteCount: byteCount) { (output) throws(FileFailure) in
        try file.fill(&output)
      }
    } catch {
      switch error {
      case .missing, .tooShort: return nil
      default: throw error
      }
    }
    let created = content.withUInt8Span { span in (0..<8).reduce(Int64(0)) { $0 << 8 | Int64(span[$1]) } }
    let secret = content.withBytes { SecretBytes(copying: $0.extracting(8..<byteCount)) }
    // A file of zeros is about to be deleted.
    guard created > 0 else { return nil }
    return HandshakeKeys.Key(id: id, made: created, secret: SharedSecretBox(secret))
  }

  /// Stores a key for all processes.
  func add(_ key: HandshakeKeys.Key) throws {
    let folder = try folder()
    let content = key.secret.withSecret { secret in
      secret.withUInt8Span { span in
        SecretBytes(byteCount: Self.byteCount) { output in
          for shift in stride(from: 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: key.made >> shift))
          }
          for index in span.indices { output.append(span[index]) }
        }
      }
    }
    try content.withBytes { (bytes) throws(FileFailure) in
      try folder.create(Self.name(of: key.id), bytes)
    }
  }

  /// Overwrites and deletes keys; a failure does not stop the deletion of the others.
  ///
  /// - Throws: The first failure.
  func forget(_ keys: [HandshakeKeys.Key]) throws {
    let folder = try folder()
    var first: FileFailure?
    for key in keys {
      do throws(FileFailure) { try folder.forget(Self.name(of: key.id), byteCount: Self.byteCount) } catch {
        first = first ?? error
      }
    }
    if let first { throw first }
  }

  /// Deletes all keys, unless another process serves the data folder.
  func end() throws {
    guard try users.makeExclusive() else { return }
    try forget(keys())
  }

  private static func name(of id: [UInt8]) -> String { prefix + Hex.encode(id) }

  private static func id(in name: String) -> [UInt8]? {
    do {
      let id = try Hex.decode(String(name.dropFirst(prefix.count)))
      return id.count == HandshakeKeys.idByteCount ? id : nil
    } catch { return nil }
  }
}
