import Foundation
import SignetSystem
import SignetTestKit

/// The shared parts of the suites: a folder, and helpers to read its files.
protocol FileSuite {
  var folder: TemporaryFolder { get }
}

extension FileSuite {
  var path: String { folder.file("file") }

  func put(_ text: String, mode: mode_t = 0o600, at path: String? = nil) throws {
    try Data(text.utf8).write(to: URL(filePath: path ?? self.path))
    guard chmod(path ?? self.path, mode) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  func text(at path: String? = nil) throws -> String {
    try String(contentsOfFile: path ?? self.path, encoding: .utf8)
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}

extension String {
  /// Writes the text to `path`.
  func place(
    at path: String, _ naming: PrivateFile.Naming, before observer: PrivateFile.Observer = { _ in }
  ) throws(FileFailure) {
    try PrivateFile.place(Array(utf8).span.bytes, at: path, naming, before: observer)
  }

  /// Creates a file at `path` with the text.
  func create(at path: String) throws(FileFailure) { try PrivateFile.create(path, Array(utf8).span.bytes) }
}
