import SignetJSON
import SignetServer
import SignetSystem

/// An object in `server.json` with its path; messages name a member by its whole path.
struct SettingsObject {
  let object: JSONObject
  let path: String

  /// Reads a required member.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func read<Value>(_ name: String, _ shape: Shape<Value>) throws -> Value {
    guard let value = object[name] else { throw missing(name) }
    return try shape.reporting.read(value, "\(path).\(name)")
  }

  /// Reads the object in a required member.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func member(_ name: String) throws -> SettingsObject {
    SettingsObject(object: try read(name, JSONObject.shape), path: "\(path).\(name)")
  }

  /// Rejects the first member whose name is not in `known`.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func refuseMembers(except known: [String]) throws { try object.refuseMembers(except: known, at: path) }

  /// Creates the refusal for a missing member.
  func missing(_ name: String) -> ServerConfigurationFile.Refusal {
    .reason("\"\(path).\(name)\" is missing; add it")
  }

  /// Creates the refusal for an invalid member; `allowed` follows its name in the message.
  func refusal(of name: String, _ allowed: String) -> ServerConfigurationFile.Refusal {
    let found = object[name].map { "; found \($0.summary)" }
    return .reason("\"\(path).\(name)\" \(allowed)\(found ?? "")")
  }

  /// Converts a failure of the JSON reader, with the path of the member.
  func refusal(_ failure: JSONFailure) -> ServerConfigurationFile.Refusal {
    switch failure {
    case .missingMember(let name): missing(name)
    case .wrongType(let name, let expected): refusal(of: name, "must be \(expected.rawValue)")
    default: .reason("\"\(path)\": \(failure)")
    }
  }
}

extension JSONObject {
  /// Rejects the first member whose name is not in `known`, and suggests the closest known name.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func refuseMembers(except known: [String], at parent: String) throws {
    for (name, _) in members where !known.contains(where: { $0.hasSameBytes(as: name) }) {
      let location = (parent.isEmpty ? "" : "\(parent).") + String(name.unicodeScalars.prefix(40))
      throw ServerConfigurationFile.Refusal.reason(
        "\"\(location)\" is not known here; \(suggestion(for: name, among: known))")
    }
  }
}

/// Returns the advice for an unknown name, as the last part of a message.
func suggestion(for name: String, among known: [String]) -> String {
  closest(to: name, among: known).map { "did you mean \"\($0)\"?" } ?? "remove it or correct its name"
}
