import SignetCrypto
package import SignetJSON
import SignetPolicy
package import SignetVault
import SignetWire

/// What a device keeps of the policies and locks of one container or account: in the vault, which authenticates it, beside the
/// secrets, so that it can be read without a password.
package struct AccountNotes: Sendable, Hashable {
  /// The policies that the server attached later, or that the account came with; `nil` where those of the profile count.
  var policies: AccountPolicySet?
  /// What locks it.
  var lock = AccountLock()
  /// Up to where the device has done what the server said; 0 before the first time.
  var revision: Int64 = 0
  /// Why the server takes no codes; `nil` where it takes them.
  var stepUpReason: String?
  /// When it was used.
  package var used: Moment?
  /// When its server was reached.
  var reached: Moment?

  /// A moment by the wall clock and by the time since boot.
  package struct Moment: Sendable, Hashable {
    let wallSeconds: Int64
    let boot: BootInstant?

    init(_ time: TrustedTime) { (wallSeconds, boot) = (time.wallSeconds, time.boot) }

    /// One of which only the wall clock's time is known.
    init(wallSeconds: Int64) { (self.wallSeconds, boot) = (wallSeconds, nil) }

    /// Seconds that have passed since, at least: by the wall clock, or by the time since boot where that is more.
    package func seconds(until now: TrustedTime) -> Int64 {
      var seconds = max(0, Self.difference(now.wallSeconds, wallSeconds))
      if let boot, boot.bootID == now.boot.bootID {
        seconds = max(seconds, now.boot.milliseconds(since: boot) / 1000)
      }
      return seconds
    }

    /// Whether the wall clock shows less than it did, by more than clocks are set right by.
    package func isAhead(of now: TrustedTime) -> Bool { Self.difference(wallSeconds, now.wallSeconds) > 120 }

    /// The nearest number to a difference that is too large for one: a clock may show any time.
    private static func difference(_ later: Int64, _ earlier: Int64) -> Int64 {
      let (seconds, isTooLarge) = later.subtractingReportingOverflow(earlier)
      return isTooLarge ? (later < earlier ? .min : .max) : seconds
    }
  }

  /// Nothing.
  init() {}

  /// Reads what was kept.
  ///
  /// - Throws: ``SignetFailure/unsupportedProfile(_:)``: the vault authenticates it, so only a newer version wrote what this one
  ///   cannot read.
  package init(_ object: JSONObject) throws(SignetFailure) {
    do {
      if let policies = try object.optionalObject("policies") {
        self.policies = try AccountPolicySet(policies)
      }
      lock = try AccountLock(try object.optionalObject("lock") ?? [:])
      revision = try object.optionalInteger("revision") ?? 0
      stepUpReason = try object.optionalString("stepUp")
      used = try object.optionalObject("used").map(Moment.init)
      reached = try object.optionalObject("reached").map(Moment.init)
    } catch {
      throw .unsupportedProfile(.invalid(member: "account", reason: "is not of this version: \(error)"))
    }
  }

  /// What is kept; no members where there is nothing.
  var json: JSONObject {
    var object = JSONObject()
    object["policies"] = policies.map { .object($0.json) }
    let lock = lock.json
    if !lock.isEmpty { object["lock"] = .object(lock) }
    if revision > 0 { object["revision"] = .integer(revision) }
    object["stepUp"] = stepUpReason.map { .string($0) }
    object["used"] = used.map { .object($0.json) }
    object["reached"] = reached.map { .object($0.json) }
    return object
  }
}

extension AccountNotes.Moment {
  fileprivate init(_ object: JSONObject) throws {
    wallSeconds = try object.integer("wall")
    if let id = try object.optionalString("boot"), let bootID = BootID(bytes: try Hex.decode(id)) {
      boot = BootInstant(bootID: bootID, millisecondsSinceBoot: try object.integer("sinceBoot"))
    } else {
      boot = nil
    }
  }

  fileprivate var json: JSONObject {
    var object: JSONObject = ["wall": .integer(wallSeconds)]
    if let boot {
      object["boot"] = .string(Hex.encode(boot.bootID.bytes))
      object["sinceBoot"] = .integer(boot.millisecondsSinceBoot)
    }
    return object
  }
}

extension ContainerNotes {
  /// What is kept of the container's policies and locks.
  ///
  /// - Throws: ``SignetFailure/unsupportedProfile(_:)``.
  func account() throws(SignetFailure) -> AccountNotes { try Self.notes(object["account"]) }

  /// What is kept of an imported account's policies and locks.
  ///
  /// - Throws: ``SignetFailure/unsupportedProfile(_:)``.
  func account(_ id: Account.ID) throws(SignetFailure) -> AccountNotes {
    guard let all = object["accounts"] else { return AccountNotes() }
    guard case .object(let all) = all else { return try Self.notes(all) }
    return try Self.notes(all[id.description])
  }

  /// The imported accounts of which something is kept.
  var accountIDs: [Account.ID] {
    guard case .object(let all)? = object["accounts"] else { return [] }
    return all.members.compactMap { Account.ID($0.name) }
  }

  mutating func setAccount(_ notes: AccountNotes) {
    let json = notes.json
    object["account"] = json.isEmpty ? nil : .object(json)
  }

  mutating func setAccount(_ id: Account.ID, _ notes: AccountNotes?) {
    var all = JSONObject()
    if case .object(let present)? = object["accounts"] { all = present }
    let json = notes?.json ?? [:]
    all[id.description] = json.isEmpty ? nil : .object(json)
    object["accounts"] = all.isEmpty ? nil : .object(all)
  }

  private static func notes(_ value: JSONValue?) throws(SignetFailure) -> AccountNotes {
    switch value {
    case nil: return AccountNotes()
    case .object(let object)?: return try AccountNotes(object)
    default:
      throw .unsupportedProfile(.invalid(member: "account", reason: "is not of this version"))
    }
  }

  /// What the container that takes the place of another one keeps.
  ///
  /// - Parameters:
  ///   - replaced: What the other one kept.
  ///   - own: What it keeps itself.
  ///   - isRenewal: Whether it is the same container with new keys. Otherwise its server has made a new one, and only what its user has
  ///     locked by hand stays locked.
  /// - Returns: What is to be kept.
  static func carrying(_ replaced: [UInt8], over own: [UInt8], isRenewal: Bool) -> [UInt8] {
    var next = ContainerNotes(parsing: own)
    let before = ContainerNotes(parsing: replaced)
    if !isRenewal {
      do throws(SignetFailure) {
        guard let manual = try before.account().lock.manual else { return own }
        var notes = try next.account()
        guard notes.lock.manual == nil else { return own }
        try notes.lock(naming: nil, of: AccountPolicySet(), reason: manual.reason, at: manual.since)
        next.setAccount(notes)
        return next.bytes
      } catch {
        // A lock that this version cannot read is no less one: it goes along as it is, and refuses as it did.
      }
    }
    next.object["account"] = before.object["account"]
    return next.bytes
  }
}
