#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Span<UInt8> {
  /// The index of the first `byte` at `start` or after it.
  ///
  /// The corresponding C function is `memchr`, which looks at many bytes at a time.
  ///
  /// - Parameters:
  ///   - byte: What is looked for.
  ///   - start: Where to begin, at most ``count``.
  /// - Returns: The index, or nil where there is none.
  package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    unsafe extracting(start...).withUnsafeBytes { rest in
      guard let base = rest.baseAddress,
        let found = unsafe memchr(base, Int32(byte), rest.count)
      else { return nil }
      return unsafe start + (UnsafeRawPointer(found) - base)
    }
  }
}
