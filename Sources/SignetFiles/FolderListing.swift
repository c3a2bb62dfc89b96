#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is in a folder.
package enum FolderListing {
  /// The names in a folder, in order; those that begin with a dot are left out, unless they are wanted.
  ///
  /// - Parameters:
  ///   - folder: Where to look.
  ///   - areHiddenLeftOut: Whether names that begin with a dot are left out; `.` and `..` always are.
  /// - Returns: The names.
  /// - Throws: ``FileFailure``.
  package static func names(
    in folder: String, areHiddenLeftOut: Bool = true
  ) throws(FileFailure) -> [String] {
    guard let directory = unsafe opendir(folder) else {
      throw errno == ENOENT ? .missing : .last("opendir")
    }
    return unsafe names(closing: directory, areHiddenLeftOut: areHiddenLeftOut)
  }

  #if canImport(Glibc)
    typealias Directory = OpaquePointer
  #else
    typealias Directory = UnsafeMutablePointer<DIR>
  #endif

  /// The same of an open listing, which is closed.
  static func names(closing directory: Directory, areHiddenLeftOut: Bool) -> [String] {
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      let isLeftOut = areHiddenLeftOut ? name.hasPrefix(".") : name == "." || name == ".."
      if !isLeftOut { names.append(name) }
    }
    return names.sorted()
  }
}
