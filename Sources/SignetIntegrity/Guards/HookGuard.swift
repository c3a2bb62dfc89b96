#if os(Linux)
  import Synchronization

  /// A guard that looks for hooks: redirected calls of protected functions, and changed code of these functions in memory.
  ///
  /// In each loaded program and library, every GOT and PLT slot of a protected function must point into the library that
  /// defines it. Before the first call it may point back into the caller. The first bytes of each function are compared
  /// with the file.
  ///
  /// Limits: the guard's own code can be hooked as well. A hook that is removed while guards run is not detected. The file
  /// is trusted; ``LibraryGuard`` checks it. ``BinaryGuard`` checks the program's own code.
  public final class HookGuard: Guard {
    /// The value `hooks`.
    public let name = "hooks"
    private let protected: [ProtectedFunctions]
    /// The names of all protected functions.
    private let names: Set<String>
    /// The objects by base address.
    private let cache = Mutex<[UInt64: ObjectProperties]>([:])

    /// Creates a guard of functions.
    ///
    /// - Parameter protected: The functions to check.
    public init(_ protected: [ProtectedFunctions] = ProtectedFunctions.standard) {
      self.protected = protected
      names = protected.reduce(into: []) { $0.formUnion($1.functions) }
    }

    /// The number of compared bytes of a function: hooks overwrite the first ones with a jump, and debuggers set a trap
    /// nearby.
    private static let comparedByteCount = 64

    /// Properties of a library that do not change while it stays at its address.
    private struct ObjectProperties {
      let fileNumber: UInt64
      /// The slots that hold addresses of protected functions.
      let slots: [ELFImage.Slot]
      /// The protected functions in this library; `nil` if it is not a protected library.
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
      let properties = cache.withLock { cached in
        cached = Dictionary(
          loaded.objects.map { object in
            // Another library may now be at the same address.
            let unchanged = cached[object.base].flatMap { $0.fileNumber == object.fileNumber ? $0 : nil }
            return (object.base, unchanged ?? inspect(object))
          },
          uniquingKeysWith: { first, _ in first })
        return cached
      }
      return redirections(loaded, properties) + changes(loaded, properties)
    }

    private func inspect(_ object: LoadedObject) -> ObjectProperties {
      let library = protected.first { object.fileName.hasPrefix($0.library) }
      let functions = library?.functions.sorted().compactMap { name in
        object.image.address(of: name, in: ProcessMemory()).map { Function(name: name, address: $0) }
      }
      return ObjectProperties(
        fileNumber: object.fileNumber, slots: object.image.slots(of: names, in: ProcessMemory()),
        functions: functions)
    }

    // MARK: Calls

    private func redirections(_ loaded: LoadedObjects, _ properties: [UInt64: ObjectProperties]) -> [Evidence]
    {
      var evidence: [Evidence] = []
      var reported: Set<String> = []
      for object in loaded.objects {
        for slot in properties[object.base]?.slots ?? [] {
          guard let target = ProcessMemory().word(at: slot.address), target != 0,
            let owner = unexpectedOwner(of: target, for: slot.function, calledBy: object, in: loaded.map),
            reported.insert("\(slot.function) \(owner)").inserted
          else { continue }
          evidence.append(
            Evidence(.redirectedCall, "\(slot.function), called by \(object.fileName), leads to \(owner)"))
        }
      }
      return evidence
    }

    /// Returns the wrong target of a slot; `nil` if it points to the defining library or to the caller.
    private func unexpectedOwner(
      of target: UInt64, for function: String, calledBy object: LoadedObject, in map: MemoryMap
    ) -> String? {
      guard let mapping = map.mapping(at: target) else { return "memory that is not mapped" }
      // The kernel implements the clock functions itself (vDSO).
      if mapping.isKernels { return nil }
      guard mapping.isFile else { return mapping.name.isEmpty ? "memory without a file" : mapping.name }
      // Before the first call the slot points into the caller, whose code resolves the function.
      if mapping.path == object.path { return nil }
      let file = String(mapping.path.split(separator: "/").last ?? "")
      // Several libraries can define a name: on older systems `read` is in libpthread, too.
      let isExpected = protected.contains { $0.functions.contains(function) && file.hasPrefix($0.library) }
      return isExpected && mapping.isExecutable ? nil : file
    }

    // MARK: Code

    private func changes(_ loaded: LoadedObjects, _ properties: [UInt64: ObjectProperties]) -> [Evidence] {
      var evidence: [Evidence] = []
      for object in loaded.objects {
        guard let functions = properties[object.base]?.functions else { continue }
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
