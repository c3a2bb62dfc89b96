import Foundation
import SignetTestKit
import Synchronization
import Testing

/// Data folders of servers, as `signet-server init` makes them.
///
/// To make one takes as long as to start the server, and most tests need the same one, so folders are copied. Two folders that
/// exist at the same time are never copies of one: they have different keys and authorities.
enum InitializedFolder {
  private struct File: Sendable {
    let name: String
    let contents: Data
    let mode: Int
  }

  /// A folder that can be copied.
  private struct Made {
    let words: [String]
    let files: [File]
    /// The folder of the last copy.
    weak var holder: TemporaryFolder?
  }

  private static let settings = "server.json"
  /// The port in the original, which each copy replaces.
  private static let port: UInt16 = 65_535
  private static let made = Mutex<[Made]>([])

  /// Makes `data` in a folder, for a server at a port of this machine.
  ///
  /// - Parameters:
  ///   - words: Further words of the command.
  ///   - port: The port on which the server will listen.
  ///   - folder: The parent; while it exists, no other folder is a copy of the same original.
  /// - Throws: The error that prevents its creation.
  static func make(_ words: [String], _ port: UInt16, in folder: TemporaryFolder) async throws {
    let data = folder.file("data")
    // Data on a database server is not in the folder, so it cannot be copied.
    guard !words.contains("--storage") else { return try await initialize(data, port, words) }
    let files = try await files(words, for: folder)
    try FileManager.default.createDirectory(
      atPath: data, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    for file in files {
      let contents = file.name == settings ? try changed(file.contents, port) : file.contents
      let isWritten = FileManager.default.createFile(
        atPath: "\(data)/\(file.name)", contents: contents, attributes: [.posixPermissions: file.mode])
      try #require(isWritten, "\(file.name)")
    }
  }

  private static func initialize(_ data: String, _ port: UInt16, _ words: [String]) async throws {
    let result = try await ServerCommand.run(
      ["init", "--data", data, "--url", "127.0.0.1:\(port)/main"] + words)
    try #require(result.status == 0, "\(result.errorOutput)")
  }

  /// The files of an original whose last copy is gone, or of a new folder.
  private static func files(_ words: [String], for folder: TemporaryFolder) async throws -> [File] {
    let known = made.withLock { made -> [File]? in
      guard let index = made.firstIndex(where: { $0.holder == nil && $0.words == words }) else { return nil }
      made[index].holder = folder
      return made[index].files
    }
    if let known { return known }
    let place = try TemporaryFolder()
    let data = place.file("data")
    try await initialize(data, port, words)
    let files = try FileManager.default.contentsOfDirectory(atPath: data).map { name in
      let path = "\(data)/\(name)"
      return File(
        name: name, contents: try Data(contentsOf: URL(filePath: path)),
        mode: try #require(permissions(of: path)))
    }
    made.withLock { $0.append(Made(words: words, files: files, holder: folder)) }
    return files
  }

  /// The settings for another port.
  private static func changed(_ settings: Data, _ port: UInt16) throws -> Data {
    let url = "\"127.0.0.1:\(port)/main\""
    let text = String(decoding: settings, as: UTF8.self)
      .replacing("\"127.0.0.1:\(Self.port)/main\"", with: url)
      .replacing("\"port\": \(Self.port)", with: "\"port\": \(port)")
    try #require(text.contains(url))
    return Data(text.utf8)
  }
}
