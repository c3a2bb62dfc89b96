#if os(Linux)
  import CLinuxProcess

  /// Files read by the kernel's own calls, past all functions that a library could have put in the place of `open` and `read`.
  enum KernelFile {
    /// The bytes of a file, of its first `limit` ones if it has more; `nil` where it can't be read.
    static func contents(_ path: String, limit: Int) -> [UInt8]? {
      let descriptor = unsafe signet_kernel_open(path)
      guard descriptor >= 0 else { return nil }
      defer { signet_kernel_close(descriptor) }
      var bytes: [UInt8] = []
      var part = [UInt8](repeating: 0, count: min(limit, 65_536))
      while bytes.count < limit {
        let wanted = min(part.count, limit - bytes.count)
        let count = unsafe part.withUnsafeMutableBytes {
          unsafe signet_kernel_read(descriptor, $0.baseAddress, wanted)
        }
        if count == -Int(EINTR) { continue }
        guard count >= 0 else { return nil }
        if count == 0 { break }
        bytes += part[..<count]
      }
      return bytes
    }

    /// The text of a small file; `nil` where it can't be read.
    static func text(_ path: String, limit: Int = 65_536) -> String? {
      contents(path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The names in a folder without `.` and `..`, `limit` at most; `nil` where it can't be read.
    static func names(in path: String, limit: Int) -> [String]? {
      let descriptor = unsafe signet_kernel_open(path)
      guard descriptor >= 0 else { return nil }
      defer { signet_kernel_close(descriptor) }
      var names: [String] = []
      var part = [UInt8](repeating: 0, count: 32_768)
      while names.count < limit {
        let count = unsafe part.withUnsafeMutableBytes {
          unsafe signet_kernel_list(descriptor, $0.baseAddress, $0.count)
        }
        guard count >= 0 else { return nil }
        if count == 0 { break }
        names += entries(part[..<count])
      }
      return Array(names.prefix(limit))
    }

    /// The names of entries as getdents64(2) writes them: number and position in 8 bytes each, the entry's length in 2, its type
    /// in one, and the name with a zero behind it.
    private static func entries(_ bytes: ArraySlice<UInt8>) -> [String] {
      var names: [String] = []
      var rest = bytes
      while rest.count > 19 {
        let length = Int(rest[rest.startIndex + 16]) | Int(rest[rest.startIndex + 17]) << 8
        guard length > 19, length <= rest.count else { break }
        let name = rest[(rest.startIndex + 19)..<(rest.startIndex + length)].prefix { $0 != 0 }
        if name != [46], name != [46, 46] { names.append(String(decoding: name, as: UTF8.self)) }
        rest = rest.dropFirst(length)
      }
      return names
    }
  }
#endif

extension StringProtocol {
  /// The text without what holds at its end.
  func trimmingSuffix(while holds: (Character) -> Bool) -> String {
    var text = self[...]
    while let last = text.last, holds(last) { text = text.dropLast() }
    return String(text)
  }
}
