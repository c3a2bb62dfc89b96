#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whole files that only their owner may read.
package enum PrivateFile {
  /// The steps, in order.
  package enum Step: Sendable, CaseIterable { case create, write, synchronize, name, synchronizeFolder }

  /// Called before each step, so that tests can inspect the folder or abort.
  package typealias Observer = (Step) throws(FileFailure) -> Void

  /// The treatment of an existing file of the same name.
  package enum Naming: Sendable {
    /// The existing file is replaced; a link is replaced, not followed.
    case replacing
    /// The existing file stays: of two concurrent processes, the second must not replace the file that the first already uses.
    case keeping
  }

  /// Creates a new file, mode 0600; its content is durable on return, its name only after the folder is synchronized.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``, `EEXIST` if the name is in use; a failed call leaves no file.
  package static func create(
    _ path: String, _ bytes: RawSpan, before observer: Observer = { _ in }
  ) throws(FileFailure) {
    try observer(.create)
    let file = try OpenFile(creating: path)
    do throws(FileFailure) {
      try observer(.write)
      try file.append(bytes)
      try observer(.synchronize)
      try file.synchronize()
    } catch {
      unsafe unlink(path)  // best effort: the earlier failure is thrown
      throw error
    }
  }

  /// Places a file of mode 0600 at `path` atomically: after a power cut there is the old content or all of `bytes`.
  ///
  /// The data is first written next to `path`, to a file with the suffix `.new-` and a number, synchronized and closed. Then
  /// that file is renamed, and the folder is synchronized. Other users can never read it, and no link planted at either name
  /// is followed. A leftover of a killed process is never used.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``; then no temporary file is left.
  package static func place(
    _ bytes: RawSpan, at path: String, _ naming: Naming, before observer: Observer = { _ in }
  ) throws(FileFailure) {
    let temporary = "\(path).new-\(UInt64.random(in: 0 ... .max))"
    try create(temporary, bytes, before: observer)
    do {
      defer { unsafe unlink(temporary) }
      try observer(.name)
      switch naming {
      case .replacing: guard unsafe rename(temporary, path) == 0 else { throw FileFailure.last("rename") }
      case .keeping:
        guard unsafe link(temporary, path) == 0 || errno == EEXIST else { throw FileFailure.last("link") }
      }
    }
    try observer(.synchronizeFolder)
    try OpenFile.synchronizeFolder(folderPath(of: path))
  }
}

/// The folder that contains the last component of `path`.
package func folderPath(of path: String) -> String {
  path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
}
