#if os(Linux)
  import CLinuxProcess
  public import SignetCrypto
  import Synchronization

  /// A guard that compares the program's file with its signed manifest (``ReleaseManifest``), and its memory with the file.
  ///
  /// Each run compares all read-only segments of the program in memory, above all its code. Writable segments may change,
  /// and a linker may put constants there too; they are not compared. The file is hashed once, and again if it is another
  /// file or was written to. The manifest is next to the program, with `.manifest` added to its name, or
  /// `lib/signet/release.manifest` in the folder above.
  ///
  /// An attacker who changes the program can also remove this guard. It detects damaged files, programs of another release,
  /// and changes by attackers who leave the guard in place. It also detects writes to the memory of a running program.
  public final class BinaryGuard: Guard {
    /// The value `binary`.
    public let name = "binary"
    private let key: P256.Signing.PublicKey?
    private let manifest: String?
    /// The digest of the file, and the file's status when it was hashed.
    private let cache = Mutex<(status: FileStatus, digest: [UInt8])?>(nil)

    /// Creates a guard of this program with its built-in key.
    public convenience init() { self.init(key: ReleaseKey.builtIn, manifest: nil) }

    /// Creates a guard of this program.
    ///
    /// - Parameters:
    ///   - key: The release's public key; without one the file is not verified.
    ///   - manifest: The path of the manifest; the default places are searched if `nil`.
    public init(key: P256.Signing.PublicKey?, manifest: String?) {
      self.key = key
      self.manifest = manifest
    }

    /// Compares the program with its manifest, and its memory with its file.
    public func examine() throws -> [Evidence] {
      // A read error in one comparison must not hide a finding of the other.
      let (signed, running) = (Result { try release() }, Result { try runningProgram() })
      var evidence: [Evidence] = []
      if case .success(let program) = running, !program.isSame {
        evidence.append(
          Evidence(.changedCode, "the code of this program in memory differs from its file"))
      }
      switch (signed, running) {
      case (.success(.refused(let found)), _): evidence.append(found)
      case (.success(.signed(let manifest, let name)), .success(let program)):
        evidence += Self.compare(program, with: manifest, as: name)
      default: break
      }
      if !evidence.contains(where: { $0.weight > 0 }) { _ = (try signed.get(), try running.get()) }
      return evidence
    }

    // MARK: The manifest

    private enum Release {
      /// The manifest is missing or not valid, or there is no key.
      case refused(Evidence)
      /// The signed manifest, and the program's file name here.
      case signed(ReleaseManifest, name: String)
    }

    private func release() throws -> Release {
      guard let key else {
        return .refused(
          Evidence(
            .unsignedBuild,
            "development build: it has no release key, so changes to it cannot be detected"))
      }
      guard let path = LoadedObjects.programPath() else {
        throw GuardFailure("the program's path can't be read")
      }
      let manifestPaths = manifest.map { [$0] } ?? Self.manifestPaths(of: path)
      let texts = manifestPaths.lazy.compactMap { KernelFile.text($0, limit: ReleaseManifest.byteLimit + 1) }
      guard let text = texts.first else {
        return .refused(
          Evidence(
            .missingManifest,
            "the manifest of this release is missing; it belongs at \(manifestPaths[0]); install it again"
          ))
      }
      do throws(ManifestFailure) {
        return .signed(
          try ReleaseManifest(verifying: text, with: key),
          name: String(path.split(separator: "/").last ?? ""))
      } catch { return .refused(Evidence(.forgedManifest, "\(error)")) }
    }

    private static func compare(_ program: RunningProgram, with manifest: ReleaseManifest, as name: String)
      -> [Evidence]
    {
      // The user may rename the program; the digest identifies it.
      switch manifest.verdict(on: .init(name: name, byteCount: program.byteCount, digest: program.digest)) {
      case .same: return []
      case .changed:
        return [
          Evidence(.changedProgram, "the file of this program is not the one of release \(manifest.release)")
        ]
      case .unknown:
        if manifest.programs.contains(where: { $0.digest == program.digest }) { return [] }
        return [Evidence(.changedProgram, "release \(manifest.release) has no program named \(name)")]
      }
    }

    static func manifestPaths(of path: String) -> [String] {
      let above = path.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
      return ["\(above)/lib/signet/release.manifest", "\(path).manifest"]
    }

    // MARK: The program

    /// The step in which the file is hashed and compared, while the step is in the processor's cache.
    private static let stepByteCount = 131_072

    /// A range of the file that must be unchanged in memory.
    private struct Part {
      let file: Range<UInt64>
      let address: UInt64

      /// True if memory has the same bytes as this step of the file, from `start` on, where it overlaps this part.
      func isSame(in bytes: Span<UInt8>, from start: UInt64) -> Bool {
        let shared = file.clamped(to: start..<start + UInt64(bytes.count))
        if shared.isEmpty { return true }
        return ProcessMemory().isSame(
          bytes.extracting(Int(shared.lowerBound - start)..<Int(shared.upperBound - start)),
          at: address + (shared.lowerBound - file.lowerBound))
      }
    }

    private static let unreadable = GuardFailure("the program's file can't be read")

    private struct RunningProgram {
      let byteCount: Int64
      /// Empty without a key.
      let digest: [UInt8]
      let isSame: Bool
    }

    /// Reads the running program through the kernel's link to its file, which also works after the file was deleted.
    private func runningProgram() throws -> RunningProgram {
      let link = "/proc/self/exe"
      guard let map = MemoryMap.current(), let status = FileStatus(link), let file = FileBytes(link) else {
        throw Self.unreadable
      }
      let byteCount = UInt64(status.byteCount)
      let parts = Self.parts(of: byteCount, map)
      var isSame = parts != nil
      let cachedDigest = cache.withLock { cached in cached.flatMap { $0.status == status ? $0.digest : nil } }
      let isHashed = key != nil && cachedDigest == nil
      var hash = IncrementalHash(.sha256)
      // Read, not mapped: truncating the file meanwhile is an error and does not kill the process.
      var step = [UInt8](repeating: 0, count: Self.stepByteCount)
      var start: UInt64 = 0
      while start < byteCount {
        guard let count = file.read(&step, at: start), count > 0 else { throw Self.unreadable }
        let bytes = step.span.extracting(0..<count)
        if isHashed { hash.update(unsafe bytes.bytes) }
        for part in parts ?? [] where isSame { isSame = part.isSame(in: bytes, from: start) }
        start += UInt64(count)
      }
      guard key != nil else {
        return RunningProgram(byteCount: Int64(start), digest: [], isSame: isSame)
      }
      let digest = if let cachedDigest { cachedDigest } else { hash.finish() }
      cache.withLock { $0 = (status, digest) }
      return RunningProgram(byteCount: Int64(start), digest: digest, isSame: isSame)
    }

    /// Returns the ranges of the file that memory must contain unchanged.
    ///
    /// The file number is that of the program's first page: on overlayfs the file system reports another number.
    ///
    /// - Parameters:
    ///   - byteCount: The file's length.
    ///   - map: The memory map.
    /// - Returns: The ranges; `nil` if memory lacks them. The kernel loaded the program from the file, so it was changed.
    private static func parts(of byteCount: UInt64, _ map: MemoryMap) -> [Part]? {
      guard let first = map.mapping(at: signet_program_header()), first.fileNumber != 0, first.offset == 0,
        first.isReadable, !first.isWritable, let image = ELFImage(at: first.start, in: ProcessMemory())
      else { return nil }
      // The header in the first page defines the other ranges. It was read from memory, so it is compared as well.
      var parts = [Part(file: 0..<min(4096, byteCount), address: first.start)]
      for segment in image.segments where !segment.isWritable && segment.fileByteCount > 0 {
        let (end, isBeyond) = segment.fileOffset.addingReportingOverflow(segment.fileByteCount)
        guard !isBeyond, end <= byteCount, map.isUnchangeable(segment, of: first.fileNumber) else {
          return nil
        }
        parts.append(Part(file: segment.fileOffset..<end, address: segment.address))
      }
      return parts
    }
  }

  extension MemoryMap {
    /// True if the whole segment is read-only memory backed by this file.
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
