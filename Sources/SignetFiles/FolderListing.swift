#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is in a folder.
package enum FolderListing {
  /// The names in a folder, in order, those that begin with a dot left out.
  ///
  /// - Throws: ``FileFailure``.
  package static func names(in folder: String) throws(FileFailure) -> [String] {
    guard let directory = unsafe opendir(folder) else {
      throw errno == ENOENT ? .missing : .last("opendir")
    }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}
