#if os(Linux)
  public import SignetCrypto
  import Synchronization

  /// Compares the program's file with the manifest that was signed when it was built (``ReleaseManifest``).
  ///
  /// The file is hashed once, and again when it is another one or was written to. The manifest lies beside the program, with
  /// `.manifest` behind its name, or as `lib/signet/release.manifest` in the folder above. Who changes a program on purpose can take
  /// this guard out of it, too: it meets those who don't, damaged files and programs of another release.
  public final class BinaryGuard: Guard {
    /// `binary`.
    public let name = "binary"
    private let key: P256.Signing.PublicKey?
    private let manifest: String?
    private let cache = Mutex<(status: FileStatus, program: ReleaseManifest.Program)?>(nil)

    /// A guard of this program, by the key that it was built with.
    public convenience init() { self.init(key: ReleaseKey.builtIn, manifest: nil) }

    /// A guard of this program.
    ///
    /// - Parameters:
    ///   - key: The release's public key; without one nothing can be said.
    ///   - manifest: Where the manifest lies; where it is looked for by itself if this is `nil`.
    public init(key: P256.Signing.PublicKey?, manifest: String?) {
      self.key = key
      self.manifest = manifest
    }

    /// Compares the program with its manifest.
    public func examine() throws -> [Evidence] {
      guard let key else {
        return [
          Evidence(
            .unsignedBuild,
            "development build: it has no release's key, so nothing tells whether it was changed")
        ]
      }
      guard let path = LoadedObjects.programPath() else {
        throw GuardFailure("the program's path can't be read")
      }
      let places = manifest.map { [$0] } ?? Self.places(of: path)
      let texts = places.lazy.compactMap { KernelFile.text($0, limit: ReleaseManifest.byteLimit + 1) }
      guard let text = texts.first else {
        return [
          Evidence(
            .missingManifest,
            "the manifest of this release is not where it should be, at \(places[0]); install it again")
        ]
      }
      let released: ReleaseManifest
      do throws(ManifestFailure) { released = try ReleaseManifest(verifying: text, with: key) } catch {
        return [Evidence(.forgedManifest, "\(error)")]
      }
      guard let program = present() else { throw GuardFailure("the program's file can't be read") }
      // What the program is called here is the user's choice; which one it is, the digest says.
      let name = String(path.split(separator: "/").last ?? "")
      switch released.verdict(on: .init(name: name, byteCount: program.byteCount, digest: program.digest)) {
      case .same: return []
      case .changed:
        return [
          Evidence(.changedProgram, "the file of this program is not the one of release \(released.release)")
        ]
      case .unknown:
        if released.programs.contains(where: { $0.digest == program.digest }) { return [] }
        return [Evidence(.changedProgram, "release \(released.release) has no such program as \(name)")]
      }
    }

    static func places(of path: String) -> [String] {
      let above = path.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
      return ["\(above)/lib/signet/release.manifest", "\(path).manifest"]
    }

    /// The program's file as it is now, by the kernel's link to it: also one that was deleted is what runs.
    private func present() -> ReleaseManifest.Program? {
      let link = "/proc/self/exe"
      return cache.withLock { cache in
        guard let status = FileStatus(link) else { return nil }
        if let cache, cache.status == status { return cache.program }
        guard let program = ReleaseManifest.Program(file: link) else { return nil }
        cache = (status, program)
        return program
      }
    }
  }
#endif
