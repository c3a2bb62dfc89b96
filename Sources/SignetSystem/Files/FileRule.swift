#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The conditions that a file or folder must meet before its content is trusted; its owner must be the program's user.
package struct FileRule: Sendable {
  /// The accepted kinds of object.
  package enum Kind: Sendable {
    /// A plain file; no link.
    case file
    /// A plain file or a link to one, owned by the user or root, such as the certificates of an ACME client.
    case foreignFile
    /// A folder or a link to one, which is common for data folders.
    case folder
    /// A folder as in ``folder``, which root may own too.
    case foreignFolder
  }

  let kind: Kind
  let forbiddenMode: UInt32

  /// Creates a rule that forbids the permission bits `forbiddenMode`; by default all access by others.
  package init(_ kind: Kind = .file, forbiddenMode: UInt32 = 0o077) {
    (self.kind, self.forbiddenMode) = (kind, forbiddenMode)
  }

  /// Checks the object at `path` without opening it, and returns its permission bits.
  ///
  /// - Throws: ``FileFailure``.
  @discardableResult package func check(_ path: String) throws(FileFailure) -> UInt32 {
    var status = stat()
    guard unsafe (kind == .file ? lstat(path, &status) : stat(path, &status)) == 0 else {
      throw errno == ENOENT ? .missing : .last("stat")
    }
    return try check(status)
  }

  @discardableResult func check(_ status: stat) throws(FileFailure) -> UInt32 {
    guard status.st_mode & S_IFMT == (kind == .folder || kind == .foreignFolder ? S_IFDIR : S_IFREG) else {
      throw .wrongKind
    }
    let canBeOwnedByRoot = kind == .foreignFile || kind == .foreignFolder
    guard status.st_uid == geteuid() || (canBeOwnedByRoot && status.st_uid == 0) else {
      throw .ownedByAnother(owner: status.st_uid)
    }
    let mode = UInt32(status.st_mode & 0o7777)
    guard mode & forbiddenMode == 0 else { throw .openToOthers(mode: mode) }
    return mode
  }
}
