#if os(Linux)
  import Synchronization

  /// Looks for hooks: calls of functions that matter that lead to other code than their library's, functions whose code in memory is
  /// not that of the file, and changes to the program's own code.
  ///
  /// What is loaded of the program and may not be written to, its code above all, is compared with its file as a whole. What may be
  /// written to may change, and a linker may put constants there too; of libraries only the functions are looked at that matter.
  ///
  /// For each loaded program and library, every place that keeps the address of such a function (the entries of GOT and PLT) must lead
  /// into the library that has it, or back into the program, as it does before the first call. The first bytes of each function are
  /// compared with the file. What is checked has to be read by code that can be hooked as well, and a hook that is taken away while
  /// guards look is not seen; the file is trusted, which ``LibraryGuard`` and ``BinaryGuard`` look after.
  public final class HookGuard: Guard {
    /// `hooks`.
    public let name = "hooks"
    private let protected: [ProtectedFunctions]
    private let cache = Mutex(Cache())

    /// A guard of functions.
    ///
    /// - Parameter protected: Which ones.
    public init(_ protected: [ProtectedFunctions] = ProtectedFunctions.standard) {
      self.protected = protected
    }

    /// How many bytes of a function are compared: hooks write a jump over the first ones, and debuggers a stop anywhere near.
    private static let comparedByteCount = 64

    /// What stays the same while a library stays where it is.
    private struct Cache {
      var objects: LoadedObjects?
      /// Places of addresses, by where the object lies that they are of.
      var slots: [UInt64: [ELFImage.Slot]] = [:]
      /// Functions and their addresses, by where their library lies.
      var functions: [UInt64: [Function]] = [:]
    }

    private struct Function {
      let name: String
      let address: UInt64
    }

    /// Compares calls and code.
    public func examine() throws -> [Evidence] {
      try cache.withLock { cache in
        guard let loaded = LoadedObjects.own(earlier: cache.objects) else {
          throw GuardFailure("the map of this process can't be read in /proc")
        }
        // Another library may lie where one lay.
        let kept = Set((cache.objects?.objects ?? []).map { "\($0.base) \($0.fileNumber)" })
        for object in loaded.objects where !kept.contains("\(object.base) \(object.fileNumber)") {
          cache.slots[object.base] = nil
          cache.functions[object.base] = nil
        }
        cache.objects = loaded
        return try redirections(loaded, &cache) + changes(loaded, &cache) + ownChanges(loaded)
      }
    }

    // MARK: Calls

    private func redirections(_ loaded: LoadedObjects, _ cache: inout Cache) -> [Evidence] {
      let names = protected.reduce(into: Set<String>()) { $0.formUnion($1.functions) }
      var evidence: [Evidence] = []
      var said: Set<String> = []
      for object in loaded.objects {
        let slots = cache.slots[object.base] ?? object.image.slots(of: names, in: ProcessMemory())
        cache.slots[object.base] = slots
        for slot in slots {
          guard let target = ProcessMemory().word(at: slot.address), target != 0,
            let owner = wrongOwner(of: target, for: slot.function, calledBy: object, in: loaded.map),
            said.insert("\(slot.function) \(owner)").inserted
          else { continue }
          evidence.append(
            Evidence(.redirectedCall, "\(slot.function), called by \(object.fileName), leads to \(owner)"))
        }
      }
      return evidence
    }

    /// What an address lies in, if that is neither the library that has the function nor the caller itself; `nil` where it is.
    private func wrongOwner(
      of target: UInt64, for function: String, calledBy object: LoadedObject, in map: MemoryMap
    ) -> String? {
      guard let mapping = map.mapping(at: target) else { return "memory that is not mapped" }
      // The kernel answers for the time itself.
      if mapping.isKernels { return nil }
      guard mapping.isFile else { return mapping.name.isEmpty ? "memory without a file" : mapping.name }
      // Before the first call the address leads to the caller's own code, which looks the function up.
      if mapping.path == object.path { return nil }
      let file = String(mapping.path.split(separator: "/").last ?? "")
      // Some names are of several libraries: `read` is of libpthread, too, in older systems.
      let isRight = protected.contains { $0.functions.contains(function) && file.hasPrefix($0.library) }
      return isRight && mapping.isExecutable ? nil : file
    }

    // MARK: Code

    private func changes(_ loaded: LoadedObjects, _ cache: inout Cache) -> [Evidence] {
      var evidence: [Evidence] = []
      for object in loaded.objects {
        guard let wanted = protected.first(where: { object.fileName.hasPrefix($0.library) }) else { continue }
        if object.isDeleted || FileStatus(object.path)?.number != object.fileNumber {
          evidence.append(
            Evidence(.replacedLibrary, "\(object.fileName) was replaced on the disk since it was loaded"))
          continue
        }
        let functions =
          cache.functions[object.base]
          ?? wanted.functions.sorted().compactMap { name in
            object.image.address(of: name, in: ProcessMemory()).map { Function(name: name, address: $0) }
          }
        cache.functions[object.base] = functions
        evidence += changed(functions, of: object)
      }
      return evidence
    }

    /// Compares the program itself with its file, by the kernel's link to it: that is what runs, also where another lies at its path.
    private func ownChanges(_ loaded: LoadedObjects) throws -> [Evidence] {
      let link = "/proc/self/exe"
      guard let number = FileStatus(link)?.number, let file = FileBytes(link),
        let program = loaded.objects.first(where: { $0.fileNumber == number })
      else { throw GuardFailure("the program's file can't be read") }
      let changed = Evidence(.changedCode, "the code of this program in memory is not what its file has")
      // Its header, in the first page, says what is compared: it was read from memory.
      guard try isSame(file, program.base, 0, 4096) else { return [changed] }
      for segment in program.image.segments where !segment.isWritable && segment.fileByteCount > 0 {
        guard isMapped(segment, from: number, in: loaded.map),
          try isSame(file, segment.address, segment.fileOffset, segment.fileByteCount)
        else { return [changed] }
      }
      return []
    }

    private func isSame(
      _ file: borrowing FileBytes, _ address: UInt64, _ offset: UInt64, _ count: UInt64
    ) throws -> Bool {
      guard let isSame = file.isSame(at: address, as: offset, count: count) else {
        throw GuardFailure("this program's own file can't be read")
      }
      return isSame
    }

    /// Whether all of a segment is memory that a file stands behind, readable and not to be written to.
    private func isMapped(_ segment: ELFImage.Segment, from fileNumber: UInt64, in map: MemoryMap) -> Bool {
      var address = segment.address
      let end = segment.address &+ segment.fileByteCount
      while address < end {
        guard let part = map.mapping(at: address), part.fileNumber == fileNumber, part.isReadable,
          !part.isWritable
        else { return false }
        address = part.end
      }
      return end > segment.address
    }

    private func changed(_ functions: [Function], of object: LoadedObject) -> [Evidence] {
      guard let file = FileBytes(object.path) else { return [] }
      return functions.compactMap { function in
        let count = Self.comparedByteCount
        guard let offset = object.image.fileOffset(of: function.address, count: count),
          let original = file.bytes(at: offset, count: count),
          let present = ProcessMemory().bytes(at: function.address, count: count), present != original
        else { return nil }
        return Evidence(
          .changedFunction, "the code of \(function.name) in memory is not that of \(object.fileName)")
      }
    }
  }
#endif
