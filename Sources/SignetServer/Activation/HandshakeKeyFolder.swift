import SignetCrypto
import SignetFiles

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The keys of handshakes that the processes of one machine share: a file each, in a folder that is in memory.
struct HandshakeKeyFolder: Sendable {
  private static let prefix = "handshake-"
  /// When it was made, 8 bytes big-endian, and the key.
  private static let byteCount = 40

  private let path: String
  /// Says which processes use the data folder.
  private let users: FolderHold

  /// Takes a folder, which is made with mode 0700 where it is missing.
  ///
  /// - Throws: ``ServerFolderFailure``: above all `notInMemory`.
  init(_ path: String, users: FolderHold) throws(ServerFolderFailure) {
    (self.path, self.users) = (path, users)
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .unwritable(path: path, errno: errno) }
    let isInMemory: Bool
    do throws(FileFailure) {
      try FileRule(.folder).check(path)
      isInMemory = try MemoryFile.isPlace(path)
    } catch { throw ServerFolderFailure(reading: path, error) }
    guard isInMemory else { throw .notInMemory(path: path) }
  }

  /// All keys that there are now.
  func keys() throws(FileFailure) -> [HandshakeKeys.Key] {
    var keys: [HandshakeKeys.Key] = []
    for name in try FolderListing.names(in: path) where name.hasPrefix(Self.prefix) {
      guard let id = Self.id(in: name), let key = try key(id) else { continue }
      keys.append(key)
    }
    return keys
  }

  /// The key of an id; `nil` where there is none, or it is being written.
  func key(_ id: [UInt8]) throws(FileFailure) -> HandshakeKeys.Key? {
    let content: SecretBytes
    do throws(FileFailure) {
      let file = try OpenFile.reading(file(id), as: FileRule())
      guard try file.byteCount(limit: Self.byteCount) == Self.byteCount else { return nil }
      content = try SecretBytes(byteCount: Self.byteCount) { (output) throws(FileFailure) in
        try file.fill(&output)
      }
    } catch {
      switch error {
      case .missing, .tooShort: return nil
      default: throw error
      }
    }
    let made = content.withUInt8Span { span in (0..<8).reduce(Int64(0)) { $0 << 8 | Int64(span[$1]) } }
    let secret = content.withBytes { SecretBytes(copying: $0.extracting(8..<Self.byteCount)) }
    // A file of zeros is being forgotten.
    guard made > 0 else { return nil }
    return HandshakeKeys.Key(id: id, made: made, secret: SharedSecretBox(secret))
  }

  /// Adds a key for all processes.
  func add(_ key: HandshakeKeys.Key) throws(FileFailure) {
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
    try content.withBytes { (bytes) throws(FileFailure) in try PrivateFile.create(file(key.id), bytes) }
  }

  /// Overwrites a key and deletes it.
  func forget(_ id: [UInt8]) throws(FileFailure) {
    try MemoryFile.forget(file(id), byteCount: Self.byteCount)
  }

  /// Forgets all keys, unless another process serves the data folder.
  func end() throws(FileFailure) {
    guard try users.becomesAlone() else { return }
    for key in try keys() { try forget(key.id) }
  }

  private func file(_ id: [UInt8]) -> String { "\(path)/\(Self.prefix)\(Hex.encode(id))" }

  private static func id(in name: String) -> [UInt8]? {
    do {
      let id = try Hex.decode(String(name.dropFirst(prefix.count)))
      return id.count == HandshakeKeys.idByteCount ? id : nil
    } catch { return nil }
  }
}
