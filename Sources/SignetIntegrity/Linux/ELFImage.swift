/// A loaded program or library: its dependencies, its functions, and its slots for addresses of foreign functions.
///
/// It is read from memory (System V ABI, chapters 4 and 5; 64-bit, little-endian). Offsets are untrusted: a read outside the
/// source fails, and the size of every table is limited.
package struct ELFImage: Sendable {
  /// The difference between addresses in memory and in the file.
  let bias: UInt64
  /// The object's own name, if it has one (`DT_SONAME`).
  package let soname: String?
  /// The names of the requested libraries (`DT_NEEDED`).
  package let needed: [String]
  /// The search folders (`DT_RPATH`, `DT_RUNPATH`), with `$ORIGIN` unresolved.
  package let searchFolders: [String]
  let segments: [Segment]
  private let symbols: UInt64
  private let strings: UInt64
  private let stringByteCount: UInt64
  private let hash: UInt64?
  private let tables: [Table]

  struct Segment: Sendable {
    let address: UInt64
    let fileByteCount: UInt64
    let fileOffset: UInt64
    let isExecutable: Bool
    let isWritable: Bool
  }

  private struct Table: Sendable {
    let address: UInt64
    let count: Int
  }

  /// A memory location that holds the address of a function.
  package struct Slot: Sendable, Hashable {
    package let function: String
    /// The address of the slot's 8 bytes.
    package let address: UInt64
  }

  private static let segmentLimit = 64
  private static let dynamicLimit = 1024
  /// A large program has a few hundred thousand relocations.
  private static let relocationLimit = 2_000_000
  private static let nameLimit = 256
  private static let symbolLimit = 2_000_000

  /// Reads the image at `base`; `nil` if there is no valid image.
  package init?(at base: UInt64, in memory: some ByteSource) {
    // Magic number, 64-bit, little-endian, version 1.
    guard let header = memory.bytes(at: base, count: 64),
      header.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
    else { return nil }
    let entrySize = header.number(at: 54, 2)
    let count = header.number(at: 56, 2)
    guard entrySize == 56, (1...Self.segmentLimit).contains(Int(count)),
      let table = memory.bytes(at: base &+ header.number(at: 32, 8), count: Int(count) * 56)
    else { return nil }
    var loaded: [(address: UInt64, segment: Segment)] = []
    var dynamic: (address: UInt64, byteCount: UInt64)?
    for index in 0..<Int(count) {
      let entry = table[(index * 56)..<(index * 56 + 56)]
      let address = entry.number(at: 16, 8)
      switch entry.number(at: 0, 4) {
      case 1:  // PT_LOAD
        let segment = Segment(
          address: address, fileByteCount: entry.number(at: 32, 8), fileOffset: entry.number(at: 8, 8),
          isExecutable: entry.number(at: 4, 4) & 1 != 0, isWritable: entry.number(at: 4, 4) & 2 != 0)
        loaded.append((address, segment))
      case 2: dynamic = (address, entry.number(at: 40, 8))  // PT_DYNAMIC
      default: continue
      }
    }
    guard let first = loaded.first, let dynamic else { return nil }
    let bias = base &- (first.address & ~0xfff) &+ (first.segment.fileOffset & ~0xfff)
    self.bias = bias
    segments = loaded.map { part in
      Segment(
        address: part.segment.address &+ bias, fileByteCount: part.segment.fileByteCount,
        fileOffset: part.segment.fileOffset, isExecutable: part.segment.isExecutable,
        isWritable: part.segment.isWritable)
    }

    let entries = min(Int(clamping: dynamic.byteCount / 16), Self.dynamicLimit)
    guard let dynamicEntries = memory.bytes(at: dynamic.address &+ bias, count: entries * 16), entries > 0
    else {
      return nil
    }
    var values: [UInt64: UInt64] = [:]
    var (neededNames, folderNames): ([UInt64], [UInt64]) = ([], [])
    for index in 0..<entries {
      let (tag, value) = (
        dynamicEntries.number(at: index * 16, 8), dynamicEntries.number(at: index * 16 + 8, 8)
      )
      if tag == 0 { break }
      switch tag {
      case 1: neededNames.append(value)
      case 15, 29: folderNames.append(value)
      default: values[tag] = value
      }
    }
    // The loader has relocated the addresses in writable tables, but not in read-only ones.
    func address(_ tag: UInt64) -> UInt64? {
      values[tag].map { $0 >= base ? $0 : $0 &+ bias }
    }
    guard let strings = address(5), let symbols = address(6), let stringByteCount = values[10] else {
      return nil
    }
    self.strings = strings
    self.symbols = symbols
    self.stringByteCount = stringByteCount
    hash = address(0x6fff_fef5)
    func text(_ offset: UInt64) -> String? {
      Self.text(at: offset, in: strings, byteCount: stringByteCount, memory, limit: 4096)
    }
    needed = neededNames.compactMap(text)
    searchFolders = folderNames.compactMap(text).flatMap { $0.split(separator: ":").map(String.init) }
    soname = values[14].flatMap(text)
    var tables: [Table] = []
    func add(_ address: UInt64?, _ byteCount: UInt64?, skipping: UInt64 = 0) {
      guard let address, let byteCount, byteCount / 24 > skipping else { return }
      let count = min(Int(clamping: byteCount / 24 - skipping), Self.relocationLimit)
      tables.append(Table(address: address &+ skipping &* 24, count: count))
    }
    // Relative relocations need no symbol; they come first, and a tag gives their number.
    add(address(7), values[8], skipping: values[0x6fff_fff9] ?? 0)
    if values[20] == 7 { add(address(23), values[2]) }
    self.tables = tables
  }

  /// Returns the slots that hold the addresses of functions.
  ///
  /// - Parameters:
  ///   - names: The functions.
  ///   - memory: The source that the image was read from.
  /// - Returns: The slots, in the order of the image's tables.
  package func slots(of names: Set<String>, in memory: some ByteSource) -> [Slot] {
    var relocations: [(address: UInt64, symbol: Int)] = []
    var last = -1
    for table in tables {
      guard let entries = memory.bytes(at: table.address, count: table.count * 24) else { continue }
      let bytes = unsafe entries.span.bytes
      for index in 0..<table.count {
        let info: UInt64 = bytes.number(at: index * 24 + 8)
        guard Self.isSlot(info & 0xffff_ffff) else { continue }
        let symbol = Int(info >> 32)
        relocations.append((bytes.number(at: index * 24) &+ bias, symbol))
        last = max(last, symbol)
      }
    }
    // Read all symbols and names at once: each read is a system call.
    guard (0..<Self.symbolLimit).contains(last), stringByteCount <= 16 << 20,
      let table = memory.bytes(at: symbols, count: (last + 1) * 24),
      let allNames = memory.bytes(at: strings, count: Int(stringByteCount))
    else { return [] }
    let (bytes, filter) = unsafe (table.span.bytes, NameFilter(names))
    var slots: [Slot] = []
    // A Swift program has tens of thousands of names and a few dozen matter: the first letter rules most of them out.
    for relocation in relocations {
      let offset: UInt32 = bytes.number(at: relocation.symbol * 24)
      if let name = filter.name(at: Int(offset), in: allNames) {
        slots.append(Slot(function: name, address: relocation.address))
      }
    }
    return slots
  }

  /// The names to find, with a quick test that excludes others.
  private struct NameFilter {
    private let names: Set<String>
    private let longest: Int
    private var isFirst = [Bool](repeating: false, count: 256)

    init(_ names: Set<String>) {
      self.names = names
      longest = min(names.map(\.utf8.count).max() ?? 0, ELFImage.nameLimit)
      for name in names { if let first = name.utf8.first { isFirst[Int(first)] = true } }
    }

    /// Returns the zero-terminated name at an offset, if it is one of them.
    func name(at offset: Int, in table: [UInt8]) -> String? {
      guard offset < table.count, isFirst[Int(table[offset])] else { return nil }
      var end = offset
      while end < table.count, table[end] != 0 {
        end += 1
        if end - offset > longest { return nil }
      }
      let name = String(decoding: table[offset..<end], as: UTF8.self)
      return names.contains(name) ? name : nil
    }
  }

  /// Returns the address of a function that this image defines, from its hash table (`DT_GNU_HASH`).
  package func address(of name: String, in memory: some ByteSource) -> UInt64? {
    guard let hash, let header = memory.bytes(at: hash, count: 16) else { return nil }
    let (bucketCount, firstIndex) = (header.number(at: 0, 4), header.number(at: 4, 4))
    let bloomCount = header.number(at: 8, 4)
    guard bucketCount > 0 else { return nil }
    var sum: UInt32 = 5381
    for byte in name.utf8 { sum = sum &* 33 &+ UInt32(byte) }
    let buckets = hash &+ 16 &+ bloomCount &* 8
    let chains = buckets &+ bucketCount &* 4
    guard
      var index = memory.bytes(at: buckets &+ UInt64(sum) % bucketCount &* 4, count: 4)?.number(at: 0, 4),
      index >= firstIndex
    else { return nil }
    // Chains have a few symbols; the limit stops a damaged one.
    for _ in 0..<4096 {
      guard let found = memory.bytes(at: chains &+ (index &- firstIndex) &* 4, count: 4)?.number(at: 0, 4)
      else { return nil }
      if UInt32(found) | 1 == sum | 1, let entry = symbolEntry(index, in: memory),
        entry.number(at: 6, 2) != 0,
        Self.text(
          at: entry.number(at: 0, 4), in: strings, byteCount: stringByteCount, memory, limit: Self.nameLimit)
          == name
      {
        return entry.number(at: 8, 8) &+ bias
      }
      if found & 1 != 0 { return nil }
      index += 1
    }
    return nil
  }

  /// Returns the file offset of an address; `nil` unless `count` bytes from there come from the same segment.
  package func fileOffset(of address: UInt64, count: Int) -> UInt64? {
    for segment in segments where address >= segment.address {
      let distance = address - segment.address
      if distance < segment.fileByteCount, segment.fileByteCount - distance >= UInt64(count) {
        return segment.fileOffset &+ distance
      }
    }
    return nil
  }

  private func symbolEntry(_ index: UInt64, in memory: some ByteSource) -> [UInt8]? {
    index < UInt64(Self.symbolLimit) ? memory.bytes(at: symbols &+ index &* 24, count: 24) : nil
  }

  private static func text(
    at offset: UInt64, in strings: UInt64, byteCount: UInt64, _ memory: some ByteSource, limit: Int
  ) -> String? {
    guard offset < byteCount else { return nil }
    let available = Int(min(byteCount - offset, UInt64(limit)))
    guard let bytes = memory.bytes(at: strings &+ offset, count: available), let end = bytes.firstIndex(of: 0)
    else { return nil }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// True for `JUMP_SLOT` and `GLOB_DAT` of this processor.
  private static func isSlot(_ type: UInt64) -> Bool {
    #if arch(arm64)
      type == 1026 || type == 1025
    #else
      type == 7 || type == 6
    #endif
  }
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// Reads a little-endian number of `count` bytes at `offset` from the start; the bytes must exist.
  fileprivate func number(at offset: Int, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in (0..<count).reversed() { value = value << 8 | UInt64(self[startIndex + offset + index]) }
    return value
  }
}

extension RawSpan {
  /// Reads a little-endian number at `offset`; all its bytes must exist.
  fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
