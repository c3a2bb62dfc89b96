#if os(Linux)
  import Synchronization

  /// A guard for libraries that the program did not request, or that come from a wrong folder.
  ///
  /// A direct or indirect dependency of the program may be in the system's folders, next to the program, or in the search
  /// path of its requester. Any other loaded library, such as a PAM plug-in, must be in the system's folders. Only root may
  /// be able to write to system libraries.
  public final class LibraryGuard: Guard {
    /// The value `libraries`.
    public let name = "libraries"

    /// The libraries of the last run, by base address.
    private let cache = Mutex<[UInt64: LibraryProperties]>([:])

    /// Creates a guard of this process.
    public init() {}

    /// Checks the loaded libraries and the preload file.
    public func examine() throws -> [Evidence] {
      guard let loaded = LoadedObjects.own() else {
        throw GuardFailure("the map of this process can't be read in /proc")
      }
      let libraries = cache.withLock { cached in
        let libraries = loaded.objects.map { object in
          cached[object.base].flatMap { $0.path == object.path ? $0 : nil } ?? LibraryProperties(object)
        }
        cached = Dictionary(zip(loaded.objects.map(\.base), libraries)) { first, _ in first }
        return libraries
      }
      let program = LoadedObjects.programPath() ?? ""
      var evidence = Self.check(libraries, program: program) { FileStatus($0) }
      if let names = KernelFile.text("/etc/ld.so.preload", limit: 4096),
        names.contains(where: { !$0.isWhitespace })
      {
        evidence.append(
          Evidence(
            .systemPreload, "/etc/ld.so.preload has every program load \(names.split(separator: "\n")[0])"))
      }
      return evidence
    }

    static let systemFolders = [
      "/usr/lib", "/lib", "/usr/lib64", "/lib64", "/lib32", "/usr/lib32", "/usr/libexec",
    ]

    /// Checks loaded libraries.
    ///
    /// - Parameters:
    ///   - objects: The program and its libraries.
    ///   - program: The program's path.
    ///   - status: Returns owner and mode of a file.
    /// - Returns: Evidence for each library that should not be there.
    package static func check(
      _ objects: [LibraryProperties], program: String, status: (String) -> FileStatus?
    ) -> [Evidence] {
      guard let root = objects.first(where: { $0.path == program }) else { return [] }
      // By library name: the search folders of its requesters.
      var requesterFolders: [String: Set<String>] = [:]
      var open = [root]
      var expected: Set<String> = [root.path]
      var called: [String: [LibraryProperties]] = [:]
      for object in objects { for name in object.names { called[name, default: []].append(object) } }
      // The program's search path (DT_RPATH) also applies to its direct and indirect dependencies.
      let inherited = root.folders
      while let object = open.popLast() {
        let folders = object.folders.union(inherited)
        for name in object.needed {
          requesterFolders[name, default: []].formUnion(folders)
          for found in called[name] ?? [] where expected.insert(found.path).inserted {
            open.append(found)
          }
        }
      }
      var evidence: [Evidence] = []
      for object in objects where object.path != root.path {
        let isSystems = object.isSystems
        if !expected.contains(object.path), !object.isLoader {
          if !isSystems {
            evidence.append(
              Evidence(
                .unexpectedLibrary, "\(object.path) is loaded, but neither the program nor a library needs it"
              ))
            continue
          }
        } else if !isSystems, !object.isLoader {
          let folders = object.names.reduce(into: Set<String>()) { $0.formUnion(requesterFolders[$1] ?? []) }
          if !folders.contains(object.folder), object.folder != root.folder {
            evidence.append(
              Evidence(
                .misplacedLibrary,
                "\(object.fileName) comes from \(object.folder), which is not in the search path"
              ))
          }
        }
        if isSystems, let status = status(object.path), !status.isSystems(overflow: FileStatus.overflowOwner)
        {
          evidence.append(Evidence(.writableLibrary, "users other than root may write to \(object.path)"))
        }
      }
      return evidence
    }
  }

  package struct LibraryProperties: Sendable {
    package let path: String
    let soname: String?
    let needed: [String]
    let fileName: String
    /// The path without its last part.
    let folder: String
    /// The search folders, with parts such as `..` resolved.
    let folders: Set<String>
    /// True if it is in one of the system's library folders.
    let isSystems: Bool
    /// True for the system's loader, which the program's header requests.
    let isLoader: Bool

    /// Creates facts.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - soname: The object's own name.
    ///   - needed: The libraries that it requests.
    ///   - searchFolders: The search folders as written: `$ORIGIN` is the object's own folder.
    package init(path: String, soname: String? = nil, needed: [String] = [], searchFolders: [String] = []) {
      self.path = path
      self.soname = soname
      self.needed = needed
      let name = String(path.split(separator: "/").last ?? "")
      let folder = String(path.dropLast(name.count + 1))
      (fileName, self.folder) = (name, folder)
      folders = Set(searchFolders.map { Self.resolved($0, origin: folder) })
      let isSystems = LibraryGuard.systemFolders.contains { path.hasPrefix("\($0)/") }
      (self.isSystems, isLoader) = (isSystems, isSystems && name.hasPrefix("ld-linux"))
    }

    init(_ object: LoadedObject) {
      self.init(
        path: object.path, soname: object.image.soname, needed: object.image.needed,
        searchFolders: object.image.searchFolders)
    }

    /// The names by which other objects request it.
    var names: Set<String> { soname.map { [$0, fileName] } ?? [fileName] }

    private static func resolved(_ written: String, origin: String) -> String {
      var path = written
      for variable in ["$ORIGIN", "${ORIGIN}"] where written.hasPrefix(variable) {
        path = origin + written.dropFirst(variable.count)
      }
      var parts: [Substring] = []
      for part in path.split(separator: "/") where part != "." {
        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
      }
      return "/" + parts.joined(separator: "/")
    }
  }
#endif
