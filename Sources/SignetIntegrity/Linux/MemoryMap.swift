/// The memory map of a process, from the kernel (`/proc/PID/maps`; proc(5)).
package struct MemoryMap: Sendable, Hashable {
  /// A range of addresses with one origin.
  package struct Mapping: Sendable, Hashable {
    let start: UInt64
    /// One past the last address.
    let end: UInt64
    let isReadable: Bool
    let isWritable: Bool
    package let isExecutable: Bool
    /// The offset of the first byte in its file.
    package let offset: UInt64
    /// The inode number of its file; 0 for memory without a file.
    let fileNumber: UInt64
    /// The file's path, or the kernel's name in brackets; empty for memory without a name.
    package let name: String

    /// True if the file has been deleted or replaced since it was mapped.
    package var isDeleted: Bool { name.hasSuffix(MemoryMap.deletedSuffix) }
    /// The path without the kernel's ` (deleted)` suffix.
    package var path: String { MemoryMap.withoutDeletedSuffix(name) }
    /// True for mappings of the kernel itself: `[vdso]`, `[vsyscall]`.
    package var isKernels: Bool { ["[vdso]", "[vsyscall]"].contains(name) }
    package var isMemoryFile: Bool { name.hasPrefix("/memfd:") }
    /// True if it is backed by a file on disk.
    package var isFile: Bool { fileNumber != 0 && name.hasPrefix("/") && !isMemoryFile }
  }

  package let mappings: [Mapping]

  /// The suffix that the kernel adds to the path of a deleted or replaced file.
  private static let deletedSuffix = " (deleted)"

  static func withoutDeletedSuffix(_ path: String) -> String {
    path.hasSuffix(deletedSuffix) ? String(path.dropLast(deletedSuffix.count)) : path
  }

  /// Reads lines such as `7f00-7f10 r-xp 00001000 fe:01 1234    /lib/libc.so.6`; invalid lines are skipped.
  package init(parsing bytes: [UInt8]) {
    mappings = bytes.split(separator: 10).compactMap { Mapping(line: $0) }
  }

  /// Returns the mapping that contains an address.
  ///
  /// The kernel lists mappings in order of their addresses.
  package func mapping(at address: UInt64) -> Mapping? {
    var (low, high) = (0, mappings.count)
    while low < high {
      let middle = (low + high) / 2
      if mappings[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    guard low < mappings.count, mappings[low].start <= address else { return nil }
    return mappings[low]
  }

  #if os(Linux)
    /// Reads the map of this process; `nil` if `/proc` cannot be read.
    static func current() -> MemoryMap? {
      // A program has some hundred mappings; the kernel's default limit is 65530.
      KernelFile.contents("/proc/self/maps", limit: 16 << 20).map(MemoryMap.init(parsing:))
    }
  #endif
}

extension MemoryMap.Mapping {
  fileprivate init?(line: ArraySlice<UInt8>) {
    var rest = line
    func field(until separator: UInt8) -> ArraySlice<UInt8>? {
      guard let end = rest.firstIndex(of: separator) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return rest[..<end]
    }
    guard let start = field(until: 45).flatMap(Self.hexadecimal),
      let end = field(until: 32).flatMap(Self.hexadecimal), start < end,
      let permissions = field(until: 32), permissions.count == 4,
      let offset = field(until: 32).flatMap(Self.hexadecimal), field(until: 32) != nil
    else { return nil }
    let number = rest.prefix { $0 != 32 }
    guard !number.isEmpty, let fileNumber = UInt64(String(decoding: number, as: UTF8.self)) else {
      return nil
    }
    self.start = start
    self.end = end
    isReadable = permissions[permissions.startIndex] == 114
    isWritable = permissions[permissions.startIndex + 1] == 119
    isExecutable = permissions[permissions.startIndex + 2] == 120
    self.offset = offset
    self.fileNumber = fileNumber
    name = String(decoding: rest.dropFirst(number.count).drop { $0 == 32 }, as: UTF8.self)
  }

  /// Parses digits `0`-`9` and `a`-`f`, at most 16.
  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
    guard (1...16).contains(digits.count) else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case 48...57: value = value << 4 | UInt64(digit - 48)
      case 97...102: value = value << 4 | UInt64(digit - 87)
      default: return nil
      }
    }
    return value
  }
}
