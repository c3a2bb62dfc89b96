#if os(Linux)
  import Glibc
  import Synchronization

  /// A program or library that is loaded in this process.
  package struct LoadedObject: Sendable {
    /// The path of its file, without the kernel's ` (deleted)` suffix.
    package let path: String
    package let fileName: String
    /// The inode number of its file.
    let fileNumber: UInt64
    /// True if its file was deleted or replaced after loading.
    let isDeleted: Bool
    package let image: ELFImage
    package let base: UInt64

    init(_ mapping: MemoryMap.Mapping, _ image: ELFImage, base: UInt64) {
      path = mapping.path
      fileName = String(path.split(separator: "/").last ?? "")
      (fileNumber, isDeleted) = (mapping.fileNumber, mapping.isDeleted)
      (self.image, self.base) = (image, base)
    }
  }

  /// All file-backed programs and libraries with code in this process, as one memory map shows them.
  package struct LoadedObjects: Sendable {
    package let map: MemoryMap
    package let objects: [LoadedObject]

    /// Reads the objects of a map, and reuses earlier ones that have not moved.
    ///
    /// - Parameters:
    ///   - map: The map.
    ///   - earlier: The objects read before.
    package init(of map: MemoryMap, earlier: LoadedObjects? = nil) {
      self.map = map
      let cached = Dictionary(
        (earlier?.objects ?? []).map { ($0.base, $0) }, uniquingKeysWith: { first, _ in first })
      var bases: [String: (base: UInt64, fileNumber: UInt64)] = [:]
      var objects: [LoadedObject] = []
      var isRead: Set<UInt64> = []
      for mapping in map.mappings where mapping.isFile {
        if mapping.offset == 0 { bases[mapping.name] = (mapping.start, mapping.fileNumber) }
        guard mapping.isExecutable, let found = bases[mapping.name], found.fileNumber == mapping.fileNumber,
          isRead.insert(found.base).inserted
        else { continue }
        if let unchanged = cached[found.base], unchanged.fileNumber == found.fileNumber,
          unchanged.path == mapping.path, unchanged.isDeleted == mapping.isDeleted
        {
          objects.append(unchanged)
        } else if let image = ELFImage(at: found.base, in: ProcessMemory()) {
          objects.append(LoadedObject(mapping, image, base: found.base))
        }
      }
      self.objects = objects
    }

    /// The objects of the last run: parsing each library takes longer than reading the map.
    private static let cache = Mutex<LoadedObjects?>(nil)

    /// Returns the present objects of this process; `nil` if `/proc` cannot be read.
    package static func own() -> LoadedObjects? {
      guard let map = MemoryMap.current() else { return nil }
      // Never wait for the lock: in a guard's child process its owner thread may not exist.
      let earlier = cache.withLockIfAvailable { $0 } ?? nil
      let now = LoadedObjects(of: map, earlier: earlier)
      _ = cache.withLockIfAvailable { $0 = now }
      return now
    }

    /// Returns the path of the program's file, or its path when the program started.
    static func programPath() -> String? {
      LinkTarget.read("/proc/self/exe").map(MemoryMap.withoutDeletedSuffix)
    }
  }

  enum LinkTarget {
    /// Reads the target of a link; `nil` if the path is not a link.
    static func read(_ path: String) -> String? {
      var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
        guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
        return unsafe readlink(path, start, buffer.count)
      }
      guard count > 0, count < bytes.count else { return nil }
      return String(decoding: bytes[..<count], as: UTF8.self)
    }
  }
#endif
