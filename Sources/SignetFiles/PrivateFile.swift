#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whole files that only their owner may read.
package enum PrivateFile {
  /// What is done, one after the other.
  package enum Step: Sendable, CaseIterable { case create, write, synchronize, name, synchronizeFolder }

  /// Called before each step: a seam through which tests look at the folder, or break off.
  package typealias Observer = (Step) throws(FileFailure) -> Void

  /// What happens to a file that has the name already.
  package enum Naming: Sendable {
    /// It is replaced; a link is replaced, not followed.
    case replacing
    /// It stays: of two processes that do this at once, the second must not replace what the first already uses.
    case keeping
  }

  /// Makes a new file, mode 0600; its content is on the disk when this returns, its name when the folder is.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``, `EEXIST` if something is there; nothing is left of a failure.
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
      unsafe unlink(path)  // best effort: the failure that matters is already on its way
      throw error
    }
  }

  /// Puts a file of mode 0600 at `path`, so that after a power cut there is what was before or all of `bytes`.
  ///
  /// It is written beside `path` under its name with `.new-` and a number, put on the disk and closed, gets its name,
  /// and then the folder is put on the disk. It is never readable by others, and no link planted at either name is
  /// followed. What a killed process leaves beside it is used by nobody.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``; no temporary file is left then.
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

/// The folder that the last component of `path` is in.
package func folderPath(of path: String) -> String {
  path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
}
