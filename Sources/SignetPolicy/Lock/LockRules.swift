/// The rules of a lock policy of any type; those of other types keep their defaults.
struct LockRules: Sendable {
  var type: String
  var limit = 0
  var atLimit = LimitConsequence.lockOut
  var delay = 0
  var counter = 0
  var waits: [Int] = []

  init(type: String) { self.type = type }

  /// The rules of a policy.
  init(_ policy: LockPolicy) {
    switch policy {
    case .none: self.init(type: "none")
    case .lock(let limit, let consequence):
      self.init(type: "lock")
      self.limit = limit
      atLimit = consequence
    case .delay(let seconds, let counter):
      self.init(type: "delay")
      delay = seconds
      self.counter = counter
    case .coolDown(let waits, let consequence):
      self.init(type: "coolDown")
      self.waits = waits
      atLimit = consequence
    case .silent: self.init(type: "silent")
    }
  }

  /// The policy, whether or not its numbers are allowed; `nil` for an unknown type.
  var policy: LockPolicy? {
    switch type {
    case "none": LockPolicy.none
    case "lock": .lock(limit: limit, atLimit: atLimit)
    case "delay": .delay(seconds: delay, counter: counter)
    case "coolDown": .coolDown(waits: waits, atLimit: atLimit)
    case "silent": .silent
    default: nil
    }
  }

  /// The types, and the rules of each besides its type.
  static let rows: [(type: String, rows: [PolicyRow<LockRules>])] = {
    let limit = PolicyRow(
      .limit, \LockRules.limit, { $0.limit = $1 }, .number(LockPolicy.allowedLimits), .required)
    let atLimit = PolicyRow(.atLimit, \LockRules.atLimit, { $0.atLimit = $1 }, .consequence())
    // The longest delay depends on the counter.
    let delay = PolicyRow(.delay, \LockRules.delay, { $0.delay = $1 }, .number(), .required)
    let counter = PolicyRow(
      .counter, \LockRules.counter, { $0.counter = $1 }, .number(LockPolicy.allowedCounters), .required)
    let waits = PolicyRow(.waits, \LockRules.waits, { $0.waits = $1 }, .numbers(), .required)
    return [
      ("none", []), ("lock", [limit, atLimit]), ("delay", [delay, counter]), ("coolDown", [waits, atLimit]),
      ("silent", []),
    ]
  }()

  /// The rules of this type.
  var rows: [PolicyRow<LockRules>] { Self.rows.first { $0.type == type }?.rows ?? [] }

  /// The rules to write in a form, with their values.
  func written(always: PolicyRow<LockRules>.Presence) -> [(rule: PolicyRule, value: PolicyValue)] {
    rows.written(self, absent: LockRules(type: type), always: always)
  }
}

extension PolicyRule {
  /// The `type` of a lock policy.
  static let lockType = PolicyRule("lockType", code: "LOCKTYPE", member: "type")
  static let limit = PolicyRule("limit", code: "LOCKCOUNTER")
  static let atLimit = PolicyRule("atLimit", code: "LOCKWIPE")
  static let delay = PolicyRule("delay", code: "LOCKDELAY")
  static let counter = PolicyRule("counter", code: "LOCKCOUNTER")
  static let waits = PolicyRule("waits", code: "LOCKWAITS")

  /// The rules of lock policies.
  static let ofLocks: [PolicyRule] = [.lockType, .limit, .atLimit, .delay, .counter, .waits]
}

extension LockPolicy {
  /// Reads a lock policy, whether or not its numbers are allowed; `nil` where its type is missing or unknown, or a rule is.
  init?(reading source: any PolicySource) {
    guard let type = source.word(.lockType) else {
      source.missing(.lockType, default: nil)
      return nil
    }
    var rules = LockRules(type: type)
    guard rules.policy != nil else {
      source.failures.append(.unknownType(type))
      return nil
    }
    source.allow(only: [.lockType] + rules.rows.map(\.rule), among: PolicyRule.ofLocks)
    for row in rules.rows where !row.read(source, &rules) && row.presence == .required {
      source.missing(row.rule, default: nil)
      return nil
    }
    guard let policy = rules.policy else { return nil }
    self = policy
  }
}
