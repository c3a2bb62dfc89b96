import SignetWire

/// The description of the HTTP API (OpenAPI 3.1): `openapi.json` beside this file, which is part of the program.
enum APIDescription {
  /// The one place where the checked-in file names a server.
  private static let example = "https://id.example.org/bank"

  /// The description, UTF-8, with a server in the place of the example.
  static func document(for server: ServerURL) -> [UInt8] {
    let text = PackageResources.openapi_json
    guard let place = text.firstRange(of: Array(example.utf8)) else {
      preconditionFailure("openapi.json names no server \(example)")
    }
    return text[..<place.lowerBound] + Array(server.fullForm.utf8) + text[place.upperBound...]
  }
}
