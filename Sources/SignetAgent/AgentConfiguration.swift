public import Signet
import SignetJSON
import SignetSystem

/// The groups of programs that share a session.
///
/// The file is JSON: `{"version":1,"groups":[{"name":"office","executables":["/usr/bin/mail"],"idle":300,"age":28800}]}`.
/// `idle` and `age` are seconds and optional.
public struct AgentConfiguration: Sendable, Hashable {
  /// A group of programs with one session.
  public struct Group: Sendable, Hashable {
    /// The group's name.
    public let group: AppGroup
    /// The absolute paths of its programs, without links.
    public let executables: [String]
    /// The limits on the time for which its session stays unlocked.
    public let limits: SessionLimits

    /// Creates a group.
    public init(_ group: AppGroup, executables: [String], limits: SessionLimits = .standard) {
      self.group = group
      self.executables = executables
      self.limits = limits
    }
  }

  /// The groups; their names are unique.
  public let groups: [Group]

  /// The maximum number of groups, and of programs in one group.
  public static let maximumCount = 64

  /// Creates a configuration.
  ///
  /// - Throws: ``AgentConfigurationFailure``.
  public init(groups: [Group]) throws(AgentConfigurationFailure) {
    guard groups.count <= Self.maximumCount, groups.allSatisfy({ $0.executables.count <= Self.maximumCount })
    else { throw .tooMany(Self.maximumCount) }
    var names: Set<AppGroup> = []
    for group in groups {
      guard names.insert(group.group).inserted else { throw .duplicateGroup(group.group.name) }
      for path in group.executables where !Self.isCanonical(path) { throw .badPath(path) }
    }
    self.groups = groups
  }

  /// Parses the content of a file.
  ///
  /// - Throws: ``AgentConfigurationFailure``.
  public init(parsing bytes: [UInt8]) throws(AgentConfigurationFailure) {
    var groups: [Group] = []
    do throws(JSONFailure) {
      let object = try JSONObject(parsing: bytes)
      guard try object.integer("version") == 1 else { throw JSONFailure.missingMember("version 1") }
      for case let value in try object.array("groups") {
        guard case .object(let entry) = value else {
          throw JSONFailure.wrongType(member: "groups", expected: .object)
        }
        groups.append(try Self.group(entry))
      }
    } catch { throw .notReadable(error.description) }
    try self.init(groups: groups)
  }

  /// Reads a file, which must belong to this user, and which other users must not be able to write.
  ///
  /// - Throws: ``AgentConfigurationFailure``.
  public init(path: String) throws(AgentConfigurationFailure) {
    let bytes: [UInt8]
    do throws(FileFailure) {
      bytes = try OpenFile.reading(path, as: FileRule(forbiddenMode: 0o022)).contents(limit: 65_536)
    } catch {
      switch error {
      case .missing: throw .missing(path)
      case .ownedByAnother, .openToOthers, .wrongKind: throw .notTrusted(path)
      default: throw .notReadable("\(path): error \(error.code)")
      }
    }
    try self.init(parsing: bytes)
  }

  private static func group(_ entry: JSONObject) throws(JSONFailure) -> Group {
    let memberNames = ["name", "executables", "idle", "age"]
    if let unknown = entry.members.first(where: { !memberNames.contains($0.name) }) {
      throw .missingMember("a meaning of \(unknown.name)")
    }
    guard let name = AppGroup(try entry.string("name")) else { throw .missingMember("name") }
    let idle = try entry.optionalInteger("idle").map { Duration.seconds($0) }
    let age = try entry.optionalInteger("age").map { Duration.seconds($0) }
    return Group(
      name, executables: try entry.strings("executables"),
      limits: SessionLimits(
        idleTimeout: idle ?? SessionLimits.standard.idleTimeout,
        maximumAge: age ?? SessionLimits.standard.maximumAge))
  }

  private static func isCanonical(_ path: String) -> Bool {
    guard path.hasPrefix("/"), path.utf8.count < 4096, !path.utf8.contains(0) else { return false }
    return path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      .allSatisfy { !["", ".", ".."].contains($0) }
  }
}

/// Why the groups of the agent were not read.
@nonexhaustive public enum AgentConfigurationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is missing.
  case missing(String)
  /// The file belongs to another user, or other users can write to it.
  case notTrusted(String)
  /// The file is not JSON of this form.
  case notReadable(String)
  /// Two groups have the same name.
  case duplicateGroup(String)
  /// The path of a program is not absolute, or contains `.`, `..` or an empty part.
  case badPath(String)
  /// There are more groups, or more programs in one, than this limit.
  case tooMany(Int)

  /// The cause and the remedy.
  public var description: String {
    switch self {
    case .missing(let path):
      "there is no \(path); write one: {\"version\":1,\"groups\":[{\"name\":\"default\",\"executables\":[\"/path/of/app\"]}]}"
    case .notTrusted(let path):
      "\(path) may be changed by other users; check what is in it, then make this user its only writer (chown, chmod go-w)"
    case .notReadable(let reason): "the agent's groups cannot be read: \(reason); see signet help agent"
    case .duplicateGroup(let name): "the group \(name) occurs twice; merge its programs into one group"
    case .badPath(let path): "\(path) is not an absolute path of a program; write it without ., .. and links"
    case .tooMany(let count): "there are more than \(count) groups, or programs in one; use fewer"
    }
  }
}
