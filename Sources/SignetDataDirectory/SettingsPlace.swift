import SignetJSON
import SignetServer

/// An object in `server.json` with its path, for messages that name a member by its whole path.
struct SettingsPlace {
  let object: JSONObject
  let path: String

  /// Reads a member that has to be there.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func read<Value>(_ name: String, _ shape: Shape<Value>) throws -> Value {
    guard let value = object[name] else { throw missing(name) }
    return try shape.reporting.read(value, "\(path).\(name)")
  }

  /// The object in a member that has to be there.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func place(_ name: String) throws -> SettingsPlace {
    SettingsPlace(object: try read(name, JSONObject.shape), path: "\(path).\(name)")
  }

  /// Refuses the first member whose name is not among `known`.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func refuseMembers(except known: [String]) throws { try object.refuseMembers(except: known, at: path) }

  /// That a member is missing.
  func missing(_ name: String) -> ServerConfigurationFile.Refusal {
    .reason("\"\(path).\(name)\" is missing; add it")
  }

  /// That a member has a value that is not allowed; `allowed` goes on from its name.
  func refusal(of name: String, _ allowed: String) -> ServerConfigurationFile.Refusal {
    let found = object[name].map { "; found \($0.summary)" }
    return .reason("\"\(path).\(name)\" \(allowed)\(found ?? "")")
  }

  /// What a reader of the object says of a member.
  func refusal(_ failure: JSONFailure) -> ServerConfigurationFile.Refusal {
    switch failure {
    case .missingMember(let name): missing(name)
    case .wrongType(let name, let expected): refusal(of: name, "must be \(expected.rawValue)")
    default: .reason("\"\(path)\": \(failure)")
    }
  }
}
