#if os(Linux)
  import CLinuxProcess
  import SignetCrypto

  extension ReleaseManifest.Program {
    /// Reads a program's file and computes its digest; `nil` if the file cannot be read to its end.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The name in the manifest; the last part of `path` if `nil`.
    public init?(file path: String, name: String? = nil) {
      let descriptor = unsafe signet_kernel_open(path)
      guard descriptor >= 0 else { return nil }
      defer { signet_kernel_close(descriptor) }
      var hash = IncrementalHash(.sha256)
      var byteCount: Int64 = 0
      var part = [UInt8](repeating: 0, count: 1 << 20)
      while true {
        let count = unsafe part.withUnsafeMutableBytes {
          unsafe signet_kernel_read(descriptor, $0.baseAddress, $0.count)
        }
        if count == -Int(EINTR) { continue }
        guard count >= 0 else { return nil }
        if count == 0 { break }
        hash.update(count == part.count ? part : Array(part[..<count]))
        byteCount += Int64(count)
      }
      self.init(
        name: name ?? String(path.split(separator: "/").last ?? ""), byteCount: byteCount,
        digest: hash.finish())
    }
  }
#endif
