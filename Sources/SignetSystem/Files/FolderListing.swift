#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The content of a folder.
package enum FolderListing {
  /// Returns the sorted names in a folder; names that start with a dot are omitted by default.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - areHiddenLeftOut: True to omit names that start with a dot; `.` and `..` are always omitted.
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

  /// Returns the names of an open listing, and closes it.
  static func names(closing directory: Directory, areHiddenLeftOut: Bool) -> [String] {
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      let isOmitted = areHiddenLeftOut ? name.hasPrefix(".") : name == "." || name == ".."
      if !isOmitted { names.append(name) }
    }
    return names.sorted()
  }
}
