#if os(Linux)
  import Synchronization

  /// Looks for hooks: calls of functions that matter that lead to other code than their library's, and functions whose code in memory
  /// is not that of the file.
  ///
  /// For each loaded program and library, every place that keeps the address of such a function (the entries of GOT and PLT) must lead
  /// into the library that has it, or back into the program, as it does before the first call. The first bytes of each function are
  /// compared with the file. What is checked has to be read by code that can be hooked as well, and a hook that is taken away while
  /// guards look is not seen; the file is trusted, which ``LibraryGuard`` looks after. The program's own code is ``BinaryGuard``'s.
  public final class HookGuard: Guard {
    /// `hooks`.
    public let name = "hooks"
    private let protected: [ProtectedFunctions]
    /// Of all of them.
    private let names: Set<String>
    /// By where it lies.
    private let cache = Mutex<[UInt64: Known]>([:])

    /// A guard of functions.
    ///
    /// - Parameter protected: Which ones.
    public init(_ protected: [ProtectedFunctions] = ProtectedFunctions.standard) {
      self.protected = protected
      names = protected.reduce(into: []) { $0.formUnion($1.functions) }
    }

    /// How many bytes of a function are compared: hooks write a jump over the first ones, and debuggers a stop anywhere near.
    private static let comparedByteCount = 64

    /// What stays the same while a library stays where it is.
    private struct Known {
      let fileNumber: UInt64
      /// Places of addresses.
      let slots: [ELFImage.Slot]
      /// Functions that matter; `nil` where the library is none that has them.
      let functions: [Function]?
    }

    private struct Function {
      let name: String
      let address: UInt64
    }

    /// Compares calls and code.
    public func examine() throws -> [Evidence] {
      guard let loaded = LoadedObjects.own() else {
        throw GuardFailure("the map of this process can't be read in /proc")
      }
      let known = cache.withLock { cached in
        cached = Dictionary(
          loaded.objects.map { object in
            // Another library may lie where one lay.
            let same = cached[object.base].flatMap { $0.fileNumber == object.fileNumber ? $0 : nil }
            return (object.base, same ?? look(into: object))
          },
          uniquingKeysWith: { first, _ in first })
        return cached
      }
      return redirections(loaded, known) + changes(loaded, known)
    }

    private func look(into object: LoadedObject) -> Known {
      let wanted = protected.first { object.fileName.hasPrefix($0.library) }
      let functions = wanted?.functions.sorted().compactMap { name in
        object.image.address(of: name, in: ProcessMemory()).map { Function(name: name, address: $0) }
      }
      return Known(
        fileNumber: object.fileNumber, slots: object.image.slots(of: names, in: ProcessMemory()),
        functions: functions)
    }

    // MARK: Calls

    private func redirections(_ loaded: LoadedObjects, _ known: [UInt64: Known]) -> [Evidence] {
      var evidence: [Evidence] = []
      var said: Set<String> = []
      for object in loaded.objects {
        for slot in known[object.base]?.slots ?? [] {
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

    private func changes(_ loaded: LoadedObjects, _ known: [UInt64: Known]) -> [Evidence] {
      var evidence: [Evidence] = []
      for object in loaded.objects {
        guard let functions = known[object.base]?.functions else { continue }
        if object.isDeleted || FileStatus(object.path)?.number != object.fileNumber {
          evidence.append(
            Evidence(.replacedLibrary, "\(object.fileName) was replaced on the disk since it was loaded"))
          continue
        }
        evidence += changed(functions, of: object)
      }
      return evidence
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
