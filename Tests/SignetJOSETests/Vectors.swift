import Foundation
import SignetJSON
import Testing

/// One example of a file in `Vectors/` or of the shared vectors, named by its `id`.
struct Vector: Sendable, CustomTestStringConvertible {
  let id: String
  let members: JSONObject
  var testDescription: String { id }

  static let limits = JSONLimits(maximumByteCount: 4_000_000, maximumMemberCount: 200_000)

  static func file(_ name: String) throws -> JSONValue {
    let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors")
    return try JSONValue(parsing: Array(Data(contentsOf: #require(url))), limits: limits)
  }

  static func load(_ name: String) throws -> [Vector] {
    guard case .array(let elements) = try file(name) else { throw JSONFailure.notAnObject }
    return try elements.map { element in
      guard case .object(let members) = element else { throw JSONFailure.notAnObject }
      return Vector(id: try members.string("id"), members: members)
    }
  }
}

/// The vectors that several projects share, read in place and never copied.
enum SharedVectors {
  static let folder: URL = {
    if let named = ProcessInfo.processInfo.environment["SIGNET_VECTORS"] {
      return URL(fileURLWithPath: named)
    }
    let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return project.appendingPathComponent("../shared/vectors").standardizedFileURL
  }()

  static func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appendingPathComponent(path).path)
  }

  static func object(_ path: String) throws -> JSONObject {
    let data = try Data(contentsOf: folder.appendingPathComponent(path))
    return try JSONObject(parsing: Array(data), limits: Vector.limits)
  }
}
