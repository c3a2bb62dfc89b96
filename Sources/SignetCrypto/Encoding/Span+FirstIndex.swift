#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Span<UInt8> {
  /// Returns the index of the first `byte` at or after `start`.
  ///
  /// The corresponding C function is `memchr`, which compares many bytes at a time.
  ///
  /// - Parameters:
  ///   - byte: The byte to find.
  ///   - start: The first index to compare, at most ``count``.
  /// - Returns: The index; `nil` if there is none.
  package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    unsafe extracting(start...).withUnsafeBytes { rest in
      guard let base = rest.baseAddress,
        let found = unsafe memchr(base, Int32(byte), rest.count)
      else { return nil }
      return unsafe start + (UnsafeRawPointer(found) - base)
    }
  }
}
