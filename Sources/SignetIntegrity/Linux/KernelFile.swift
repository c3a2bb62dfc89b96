#if os(Linux)
  import CLinuxProcess

  /// File reads by direct system calls, which a library that replaces `open` and `read` cannot intercept.
  enum KernelFile {
    /// Reads at most the first `limit` bytes of a file; `nil` if it cannot be read.
    static func contents(_ path: String, limit: Int) -> [UInt8]? {
      let descriptor = unsafe signet_kernel_open(path)
      guard descriptor >= 0 else { return nil }
      defer { signet_kernel_close(descriptor) }
      var bytes: [UInt8] = []
      var part = [UInt8](repeating: 0, count: min(limit, 65_536))
      while bytes.count < limit {
        let requestedCount = min(part.count, limit - bytes.count)
        let count = unsafe part.withUnsafeMutableBytes {
          unsafe signet_kernel_read(descriptor, $0.baseAddress, requestedCount)
        }
        if count == -Int(EINTR) { continue }
        guard count >= 0 else { return nil }
        if count == 0 { break }
        bytes += part[..<count]
      }
      return bytes
    }

    /// Reads the text of a small file; `nil` if it cannot be read.
    static func text(_ path: String, limit: Int = 65_536) -> String? {
      contents(path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Lists at most `limit` names in a folder, without `.` and `..`; `nil` if it cannot be read.
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

    /// Parses entries of getdents64(2): number and position in 8 bytes each, the entry's length in 2, its type in 1, and the
    /// zero-terminated name.
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
  /// Removes the characters at the end for which `predicate` returns true.
  func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
    var text = self[...]
    while let last = text.last, predicate(last) { text = text.dropLast() }
    return String(text)
  }
}
