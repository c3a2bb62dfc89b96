#if os(Linux)
  import Glibc

  enum LinkTarget {
    /// Reads the target of a link; `nil` if the path is not a link.
    static func read(_ path: String) -> String? {
      var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
        guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
        return unsafe readlink(path, start, buffer.count)
      }
      guard count > 0, count < bytes.count else { return nil }
      return String(decoding: bytes[..<count], as: UTF8.self)
    }
  }
#endif
