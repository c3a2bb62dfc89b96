#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a file or folder must be before its content is relied on; its owner is the user that runs the program.
package struct FileRule: Sendable {
  /// What there may be.
  package enum Kind: Sendable {
    /// A plain file; no link.
    case file
    /// A plain file or a link to one, which may be root's too, as certificates of an ACME client are.
    case foreignFile
    /// A folder or a link to one, as people have for a data folder.
    case folder
    /// As ``folder``, which may be root's too.
    case foreignFolder
  }

  let kind: Kind
  let forbiddenMode: UInt32

  /// A rule that forbids others what the permission bits `forbiddenMode` stand for; everything, unless said.
  package init(_ kind: Kind = .file, forbiddenMode: UInt32 = 0o077) {
    (self.kind, self.forbiddenMode) = (kind, forbiddenMode)
  }

  /// Checks what is at `path`, without opening it, and returns its permission bits.
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
    let mayBeRoots = kind == .foreignFile || kind == .foreignFolder
    guard status.st_uid == geteuid() || (mayBeRoots && status.st_uid == 0) else {
      throw .ownedByAnother(owner: status.st_uid)
    }
    let mode = UInt32(status.st_mode & 0o7777)
    guard mode & forbiddenMode == 0 else { throw .openToOthers(mode: mode) }
    return mode
  }
}
