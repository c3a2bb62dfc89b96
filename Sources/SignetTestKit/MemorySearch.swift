#if os(Linux)
  import Glibc
  package import SignetCrypto

  /// A search for secrets in all memory of a process; it leaves no copies of them itself.
  ///
  /// The secrets are stored masked. Memory is read through `/proc/PID/mem` into the search's own pages, which are skipped
  /// and wiped. At most four bytes of a secret are ever unmasked together.
  package final class MemorySearch {
    /// A part of a secret: half of a secret in memory is as bad as all of it.
    private struct Needle {
      let name: String
      let masked: [UInt8]
      /// The distance between groups of four bytes.
      var step = 4

      /// Returns the offset of a byte from the start of the needle.
      func offset(of index: Int) -> Int { index / 4 * step + index % 4 }

      var byteCount: Int { offset(of: masked.count - 1) + 1 }
    }

    private static let mask: UInt8 = 0x5A
    private static let wideMask: UInt32 = 0x5A5A_5A5A
    private static let windowByteCount = 1 << 20
    private var needles: [Needle] = []
    private let window: UnsafeMutableRawPointer

    private let process: pid_t?

    /// Creates a search.
    ///
    /// - Parameter process: Another process, which this one must be allowed to trace; this one if `nil`.
    /// - Throws: ``Failure``.
    package init(process: Int32? = nil) throws {
      self.process = process
      let pages = mmap(nil, Self.windowByteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let pages, pages != MAP_FAILED else { throw Failure(errno: errno) }
      window = pages
    }

    deinit { munmap(window, Self.windowByteCount) }

    package struct Failure: Error {
      let errno: Int32
    }

    /// Adds a secret, in halves of 12 bytes or more; each half is searched in both byte orders.
    package func add(_ name: String, _ secret: borrowing SecretBytes) {
      secret.withUInt8Span { bytes in
        let half = max(bytes.count / 2, min(12, bytes.count))
        for (part, start) in [("begin", 0), ("end", bytes.count - half)] {
          let masked = (start..<(start + half)).map { Self.masked(bytes[$0]) }
          needles.append(Needle(name: "\(name), \(part)", masked: masked))
          needles.append(Needle(name: "\(name), \(part), reversed", masked: masked.reversed()))
        }
      }
    }

    /// Adds the ASCII characters of a text in a wide array layout: 4 bytes of a character, 4 of other data.
    ///
    /// - Precondition: The text begins with 24 ASCII characters.
    package func add(charactersOf name: String, _ text: borrowing SecretBytes) {
      text.withUInt8Span { bytes in
        for (part, range) in [("begin", 0..<12), ("end", 12..<24)] {
          let masked = range.flatMap { [Self.masked(bytes[$0]), Self.mask, Self.mask, Self.mask] }
          needles.append(Needle(name: "\(name), \(part)", masked: masked, step: 8))
        }
      }
    }

    /// Masks a single byte; a vector register with more of a secret could be saved on the stack by a call.
    @inline(never)
    private static func masked(_ byte: UInt8) -> UInt8 { byte ^ mask }

    /// Returns the number of copies of each secret in memory; secrets without a copy are left out.
    ///
    /// - Throws: ``Failure``.
    package func found() throws -> [String: Int] { try addresses().mapValues(\.count) }

    private func addresses() throws -> [String: Set<Int>] {
      let memory = open("/proc/\(folder)/mem", O_RDONLY | O_CLOEXEC)
      guard memory >= 0 else { throw Failure(errno: errno) }
      defer { close(memory) }
      var found: [String: Set<Int>] = [:]
      for mapping in try mappings() where mapping.name != "[vvar]" && mapping.name != "[vsyscall]" {
        // The system merges adjacent mappings, so the search's own pages may be inside one.
        let ownPages = ownRange.clamped(to: mapping.range)
        for part in ownPages.isEmpty
          ? [mapping.range]
          : [mapping.range.lowerBound..<ownPages.lowerBound, ownPages.upperBound..<mapping.range.upperBound]
        {
          try search(part, memory) { needle, address in found[needle, default: []].insert(address) }
        }
      }
      return found
    }

    private func search(_ part: Range<Int>, _ memory: Int32, _ report: (String, Int) -> Void) throws {
      var offset = part.lowerBound
      let overlap = needles.map(\.byteCount).max() ?? 0
      while offset < part.upperBound {
        // Windows overlap by the longest needle, so that no occurrence crosses an edge.
        let count = pread(memory, window, min(Self.windowByteCount, part.upperBound - offset), off_t(offset))
        guard count > 0 else { return }  // no page, for example after the end of a file
        if !isEmpty(count) {
          for needle in needles { search(needle, count) { report(needle.name, offset + $0) } }
          explicit_bzero(window, count)
        }
        if offset + count >= part.upperBound { return }
        offset += max(count - overlap, 1)
      }
    }

    /// Returns true if the window has only zeros, like most of a thread's stack.
    private func isEmpty(_ count: Int) -> Bool {
      guard count > 8, window.loadUnaligned(as: UInt64.self) == 0 else { return false }
      return memcmp(window, window + 8, count - 8) == 0
    }

    private var folder: String { process.map { "\($0)" } ?? "self" }

    /// The pages of the search itself, to skip, if its own process is searched.
    private var ownRange: Range<Int> {
      guard process == nil else { return 0..<0 }
      let start = Int(bitPattern: window)
      return start..<(start + Self.windowByteCount)
    }

    private func search(_ needle: Needle, _ count: Int, _ report: (Int) -> Void) {
      let first = Int32(needle.masked[0] ^ Self.mask)
      let prefix = needle.masked.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } ^ Self.wideMask
      var position = window
      let end = window + count - needle.byteCount
      while position <= end, let hit = memchr(position, first, end - position + 1) {
        if hit.loadUnaligned(as: UInt32.self) == prefix, isWhole(needle, at: hit) { report(hit - window) }
        position = hit + 1
      }
    }

    private func isWhole(_ needle: Needle, at pointer: UnsafeMutableRawPointer) -> Bool {
      needle.masked.indices.allSatisfy {
        Self.masked(pointer.load(fromByteOffset: needle.offset(of: $0), as: UInt8.self)) == needle.masked[$0]
      }
    }

    private struct Mapping {
      let range: Range<Int>
      let name: String
    }

    private func mappings() throws -> [Mapping] {
      guard let file = fopen("/proc/\(folder)/maps", "re") else { throw Failure(errno: errno) }
      defer { fclose(file) }
      var mappings: [Mapping] = []
      var line = [CChar](repeating: 0, count: 4096)
      while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
        // [vsyscall] is above the user's half; its address does not fit `Int`.
        guard ends.count == 2, fields[1].hasPrefix("r") else { continue }
        // Skip read-only file mappings: they have the file's content.
        if fields[4] != "0", !fields[1].contains("w") { continue }
        mappings.append(
          Mapping(range: ends[0]..<ends[1], name: fields.count > 5 ? String(fields[5]) : "anonymous"))
      }
      return mappings
    }
  }
#endif
