#if os(Linux)
  import Synchronization

  /// A program or library that is loaded in this process.
  package struct LoadedObject: Sendable {
    /// Where its file lies, without the kernel's remark.
    package let path: String
    /// The last part of the path.
    package let fileName: String
    /// The number of its file.
    let fileNumber: UInt64
    /// Whether its file was deleted or replaced since.
    let isDeleted: Bool
    package let image: ELFImage
    /// Where its header lies.
    package let base: UInt64

    init(_ mapping: MemoryMap.Mapping, _ image: ELFImage, base: UInt64) {
      path = mapping.path
      fileName = String(path.split(separator: "/").last ?? "")
      (fileNumber, isDeleted) = (mapping.fileNumber, mapping.isDeleted)
      (self.image, self.base) = (image, base)
    }
  }

  /// All programs and libraries of this process that a file stands behind and that have code, as one map shows them.
  package struct LoadedObjects: Sendable {
    package let map: MemoryMap
    package let objects: [LoadedObject]

    /// Reads the objects of a map, and takes from earlier ones what lies where it lay.
    ///
    /// - Parameters:
    ///   - map: The map.
    ///   - earlier: Objects read before.
    package init(of map: MemoryMap, earlier: LoadedObjects? = nil) {
      self.map = map
      let known = Dictionary(
        (earlier?.objects ?? []).map { ($0.base, $0) }, uniquingKeysWith: { first, _ in first })
      var bases: [String: (base: UInt64, fileNumber: UInt64)] = [:]
      var objects: [LoadedObject] = []
      var isRead: Set<UInt64> = []
      for mapping in map.mappings where mapping.isFile {
        if mapping.offset == 0 { bases[mapping.name] = (mapping.start, mapping.fileNumber) }
        guard mapping.isExecutable, let found = bases[mapping.name], found.fileNumber == mapping.fileNumber,
          isRead.insert(found.base).inserted
        else { continue }
        if let same = known[found.base], same.fileNumber == found.fileNumber,
          same.path == mapping.path, same.isDeleted == mapping.isDeleted
        {
          objects.append(same)
        } else if let image = ELFImage(at: found.base, in: ProcessMemory()) {
          objects.append(LoadedObject(mapping, image, base: found.base))
        }
      }
      self.objects = objects
    }

    /// Those that the last look has seen: to read what each library says of itself takes longer than to read the map.
    private static let lastSeen = Mutex<LoadedObjects?>(nil)

    /// The objects of this process now; `nil` where `/proc` can't be read.
    package static func own() -> LoadedObjects? {
      guard let map = MemoryMap.own() else { return nil }
      // Nobody is waited for: in a guard's own process the thread that had the lock may not be there.
      let earlier = lastSeen.withLockIfAvailable { $0 } ?? nil
      let now = LoadedObjects(of: map, earlier: earlier)
      _ = lastSeen.withLockIfAvailable { $0 = now }
      return now
    }

    /// Where the program's own file lies, or lay when it was started.
    static func programPath() -> String? {
      LinkTarget.read("/proc/self/exe").map(MemoryMap.withoutRemark)
    }
  }
#endif
