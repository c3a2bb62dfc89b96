import Foundation
import SignetCrypto

/// The contents of a folder: each path with its kind, permissions and content.
struct FolderSnapshot: Equatable, CustomStringConvertible {
  private let entries: [String: String]

  var paths: [String] { entries.keys.sorted() }
  var description: String {
    entries.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "\n")
  }

  /// Reads a folder; a missing one equals an empty one.
  init(_ folder: String) throws {
    var entries: [String: String] = [:]
    let manager = FileManager.default
    for case let path as String in manager.enumerator(atPath: folder) ?? FileManager.DirectoryEnumerator() {
      let attributes = try manager.attributesOfItem(atPath: "\(folder)/\(path)")
      let mode = String((attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1, radix: 8)
      let isFile = attributes[.type] as? FileAttributeType == .typeRegular
      let content = isFile ? Array(try Data(contentsOf: URL(filePath: "\(folder)/\(path)"))) : nil
      let digest = content.map { "\($0.count) bytes \(Hex.encode(HashFunction.sha256.digest(of: $0)))" }
      entries[path] = "\(mode) \(digest ?? "no file")"
    }
    self.entries = entries
  }
}
