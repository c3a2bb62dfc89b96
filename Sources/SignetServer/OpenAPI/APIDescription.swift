import SignetJSON
package import SignetWire

/// The description of the HTTP API (OpenAPI 3.1): `openapi.json` beside this file, and `uaf.json` where UAF is served.
package enum APIDescription {
  /// The one place where the checked-in file names a server.
  private static let example = "https://id.example.org/bank"
  /// What the paths of UAF begin with in the checked-in file.
  private static let examplePrefix = "/nevisfido"
  private static let limits = JSONLimits(maximumByteCount: 1 << 20, maximumMemberCount: 100_000)

  /// The description, UTF-8, with a server in the place of the example.
  package static func document(for server: ServerURL, _ uaf: UAFSettings?) -> [UInt8] {
    let text = PackageResources.openapi_json
    guard let place = text.firstRange(of: Array(example.utf8)) else {
      preconditionFailure("openapi.json names no server \(example)")
    }
    let document = text[..<place.lowerBound] + Array(server.fullForm.utf8) + text[place.upperBound...]
    guard let uaf else { return Array(document) }
    do throws(JSONFailure) {
      return try adding(uaf, to: JSONObject(parsing: Array(document), limits: limits), server).bytes
    } catch { preconditionFailure("openapi.json or uaf.json is no description: \(error)") }
  }

  /// A description with what UAF serves: at the root of the server, below a prefix of its own.
  private static func adding(
    _ uaf: UAFSettings, to document: JSONObject, _ server: ServerURL
  ) throws(JSONFailure) -> JSONObject {
    let part = try JSONObject(parsing: PackageResources.uaf_json, limits: limits)
    var document = document
    var paths = try document.object("paths")
    for (path, value) in try part.object("paths").members {
      let own = path.dropFirst(examplePrefix.count)
      guard case .object(var item) = value, uaf.hasConformanceAdapter || own != "/get" && own != "/respond"
      else { continue }
      item["servers"] = [["url": .string(server.origin)]]
      paths[uaf.prefix + own] = .object(item)
    }
    document["paths"] = .object(paths)
    var components = try document.object("components")
    for (name, value) in try part.object("components").members {
      guard case .object(let members) = value else { throw .notAnObject }
      var all = try components.object(name)
      for (name, value) in members.members { all[name] = value }
      components[name] = .object(all)
    }
    document["components"] = .object(components)
    return document
  }
}
