import Foundation
import SignetCrypto

/// A file of C2SP/wycheproof (`testvectors_v1`), read in place.
struct WycheproofFile<Group: Decodable>: Decodable {
  let numberOfTests: Int
  let testGroups: [Group]

  init(_ name: String) throws {
    guard let folder = WycheproofVectors.folder else { throw CocoaError(.fileNoSuchFile) }
    self = try JSONDecoder().decode(
      Self.self, from: Data(contentsOf: folder.appendingPathComponent(name)))
  }
}

enum WycheproofVectors {
  /// The shared vectors: the folder in `SIGNET_VECTORS`, or `../shared/vectors` next to the project.
  static let folder: URL? = {
    let project = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let named = ProcessInfo.processInfo.environment["SIGNET_VECTORS"].map { URL(fileURLWithPath: $0) }
    let folder = (named ?? project.appendingPathComponent("../shared/vectors"))
      .appendingPathComponent("wycheproof")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  static var arePresent: Bool { folder != nil }
}

enum WycheproofResult: String, Decodable {
  case valid
  case invalid
  /// Either result is allowed; each use states the expected one, with the reason.
  case acceptable
}
