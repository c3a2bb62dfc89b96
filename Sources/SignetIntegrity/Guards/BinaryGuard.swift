#if os(Linux)
  public import SignetCrypto
  import Synchronization

  /// Compares the program's file with the manifest that was signed when it was built (``ReleaseManifest``), and the program in memory
  /// with its file.
  ///
  /// What is loaded of the program and may not be written to, its code above all, is compared as a whole at each look. What may be
  /// written to may change, and a linker may put constants there too. The file is hashed once, and again when it is another one or was
  /// written to. The manifest lies beside the program, with
  /// `.manifest` behind its name, or as `lib/signet/release.manifest` in the folder above. Who changes a program on purpose can take
  /// this guard out of it, too: it meets those who don't, damaged files and programs of another release.
  public final class BinaryGuard: Guard {
    /// `binary`.
    public let name = "binary"
    private let key: P256.Signing.PublicKey?
    private let manifest: String?
    /// The digest of the file, and which one that was.
    private let cache = Mutex<(status: FileStatus, digest: [UInt8])?>(nil)

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

    /// Compares the program with its manifest, and its memory with its file.
    public func examine() throws -> [Evidence] {
      let present = try present()
      let released = try against(present.program)
      if present.isSame { return released }
      return released + [
        Evidence(.changedCode, "the code of this program in memory is not what its file has")
      ]
    }

    // MARK: The manifest

    /// Compares the program's file, which is read where there is a key, with its manifest.
    private func against(_ program: ReleaseManifest.Program?) throws -> [Evidence] {
      guard let key, let program else {
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

    // MARK: The program

    /// So much of the file is hashed, and then compared with memory while the processor's cache still has it.
    private static let stepByteCount: UInt64 = 65_536

    /// A part of the file that memory should have unchanged.
    private struct Part {
      let file: Range<UInt64>
      let address: UInt64

      /// Whether memory has what a step through the file has of this part.
      func isSame(in step: Range<UInt64>, of file: borrowing MappedFile) -> Bool {
        let shared = self.file.clamped(to: step)
        return shared.isEmpty || file.isSame(shared, at: address + (shared.lowerBound - self.file.lowerBound))
      }
    }

    /// The program as it is now, by the kernel's link to its file: also one that was deleted is what runs.
    ///
    /// - Returns: The file, unless there is no key to compare it by, and whether memory is what it has.
    private func present() throws -> (program: ReleaseManifest.Program?, isSame: Bool) {
      let link = "/proc/self/exe"
      // The map first: it is not to show the file as it is mapped here, below the program in some layouts of memory.
      guard let status = FileStatus(link), let map = MemoryMap.own(), let file = MappedFile(link),
        let base = map.mappings.first(where: { $0.fileNumber == status.number && $0.offset == 0 })?.start
      else { throw GuardFailure("the program's file can't be read") }
      // The header, in the first page, says what is compared: it was read from memory, and is compared itself.
      var parts = [Part(file: 0..<min(4096, file.byteCount), address: base)]
      let image = ELFImage(at: base, in: ProcessMemory())
      // The kernel has loaded it: a header that is none was changed.
      var isSame = image != nil
      for segment in image?.segments ?? [] where !segment.isWritable && segment.fileByteCount > 0 {
        let (end, isBeyond) = segment.fileOffset.addingReportingOverflow(segment.fileByteCount)
        guard !isBeyond, end <= file.byteCount, map.isUnchangeable(segment, of: status.number) else {
          isSame = false
          continue
        }
        parts.append(Part(file: segment.fileOffset..<end, address: segment.address))
      }
      let known = cache.withLock { known in known.flatMap { $0.status == status ? $0.digest : nil } }
      let isHashed = key != nil && known == nil
      var hash = IncrementalHash(.sha256)
      for start in stride(from: 0, to: file.byteCount, by: Int(Self.stepByteCount)) {
        let step = start..<min(start + Self.stepByteCount, file.byteCount)
        if isHashed { file.add(step, to: &hash) }
        isSame = isSame && parts.allSatisfy { $0.isSame(in: step, of: file) }
      }
      guard key != nil else { return (nil, isSame) }
      let digest = if let known { known } else { hash.finish() }
      cache.withLock { $0 = (status, digest) }
      return (.init(name: "", byteCount: Int64(file.byteCount), digest: digest), isSame)
    }
  }

  extension MemoryMap {
    /// Whether all of a segment is memory that a file stands behind, readable and not to be written to.
    fileprivate func isUnchangeable(_ segment: ELFImage.Segment, of fileNumber: UInt64) -> Bool {
      var address = segment.address
      let end = segment.address &+ segment.fileByteCount
      while address < end {
        guard let part = mapping(at: address), part.fileNumber == fileNumber, part.isReadable,
          !part.isWritable
        else { return false }
        address = part.end
      }
      return end > segment.address
    }
  }
#endif
