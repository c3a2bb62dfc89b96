import SignetHTTP
import SignetJSON

/// How many connections a server has at one time.
public struct ConnectionSettings: Hashable, Sendable {
  /// In all, 16 to 100,000.
  public var total: Int
  /// From one IPv4 address or one IPv6 /64 network, 1 to 100,000.
  public var perAddress: Int
  /// Those in which a device waits for something new, fewer than in all; `nil` for half of them.
  public var waiting: Int?
  /// Those of them from one address, fewer than it may have; `nil` for half of them.
  public var waitingPerAddress: Int?

  /// The defaults.
  public init() {
    let limits = ServerLimits()
    (total, perAddress) = (limits.connectionCount, limits.connectionCountPerAddress)
  }

  package static let ranges: [(name: String, range: ClosedRange<Int64>)] = [
    ("total", 16...100_000), ("perAddress", 1...100_000), ("waiting", 0...100_000),
    ("waitingPerAddress", 0...100_000),
  ]

  init(_ object: JSONObject) throws {
    self.init()
    try FolderSettings.refuseMembers(of: object, at: "connections", except: Self.ranges.map(\.name))
    var values: [String: Int] = [:]
    for (name, range) in Self.ranges {
      guard let value = try object.optionalInteger(name) else { continue }
      guard range.contains(value) else {
        throw FolderSettings.Refusal.reason(
          "\"\(name)\" in \"connections\" is \(range.lowerBound) to \(range.upperBound)")
      }
      values[name] = Int(value)
    }
    (total, perAddress) = (values["total"] ?? total, values["perAddress"] ?? perAddress)
    (waiting, waitingPerAddress) = (values["waiting"], values["waitingPerAddress"])
    // A request that waits keeps its connection: with one less there is always one for a decision.
    guard (waiting ?? 0) < total, (waitingPerAddress ?? 0) < perAddress else {
      throw FolderSettings.Refusal.reason(
        "\"waiting\" in \"connections\" is less than \"total\", \"waitingPerAddress\" less than \"perAddress\""
      )
    }
  }

  /// What `server.json` has; a member is left out where it says what is so without it.
  var json: JSONObject {
    let usual = ConnectionSettings()
    var object = JSONObject()
    if total != usual.total { object["total"] = .integer(Int64(total)) }
    if perAddress != usual.perAddress { object["perAddress"] = .integer(Int64(perAddress)) }
    if let waiting { object["waiting"] = .integer(Int64(waiting)) }
    if let waitingPerAddress { object["waitingPerAddress"] = .integer(Int64(waitingPerAddress)) }
    return object
  }
}
