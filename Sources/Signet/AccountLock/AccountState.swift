import SignetCrypto
package import SignetJSON
import SignetPolicy
import SignetProtocol
package import SignetVault

/// The stored state of the policies and locks of one container or account.
///
/// It is in the attributes of the vault's container, next to the secrets. The vault authenticates it, and reading it needs no password.
package struct AccountState: Sendable, Hashable {
  /// The policies that the server attached later, or that came with the account; `nil` if those of the profile apply.
  var policies: AccountPolicySet?
  /// The locks in effect.
  var lock = AccountLock()
  /// The revision of the server's last applied change; 0 before the first.
  var revision: Int64 = 0
  /// The reason why the server accepts no one-time codes; `nil` if it does.
  var stepUpReason: String?
  /// The last stored use.
  package var used: Moment?
  /// The last stored contact with the server.
  var reached: Moment?

  /// A time by the wall clock and by the time since boot.
  package struct Moment: Sendable, Hashable {
    let wallSeconds: Int64
    let boot: BootInstant?

    init(_ time: TrustedTime) { (wallSeconds, boot) = (time.wallSeconds, time.boot) }

    /// Creates a moment of which only the wall clock time is known.
    init(wallSeconds: Int64) { (self.wallSeconds, boot) = (wallSeconds, nil) }

    /// The seconds since this moment: the larger of the differences by the wall clock and by the time since boot.
    package func seconds(until now: TrustedTime) -> Int64 {
      var seconds = max(0, Self.difference(now.wallSeconds, wallSeconds))
      if let boot, boot.bootID == now.boot.bootID {
        seconds = max(seconds, now.boot.milliseconds(since: boot) / 1000)
      }
      return seconds
    }

    /// Indicates whether the wall clock was set back by more than 120 s, which exceeds ordinary corrections.
    package func isAhead(of now: TrustedTime) -> Bool { Self.difference(wallSeconds, now.wallSeconds) > 120 }

    /// The difference, clamped to the range of `Int64`, because a clock may show any time.
    private static func difference(_ later: Int64, _ earlier: Int64) -> Int64 {
      let (seconds, isTooLarge) = later.subtractingReportingOverflow(earlier)
      return isTooLarge ? (later < earlier ? .min : .max) : seconds
    }
  }

  /// Creates an empty state.
  init() {}

  /// Parses a stored state.
  ///
  /// - Throws: ``SignetError/unsupportedProfile(_:)``. The vault authenticates the state, so an unreadable one was
  ///   written by a newer version.
  package init(_ object: JSONObject) throws(SignetError) {
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

  /// The JSON to store; empty if there is no state.
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

extension AccountState.Moment {
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

extension ContainerMetadata {
  /// Returns the state of the container's policies and locks.
  ///
  /// - Throws: ``SignetError/unsupportedProfile(_:)``.
  func account() throws(SignetError) -> AccountState { try Self.state(object["account"]) }

  /// Returns the state of an imported account's policies and locks.
  ///
  /// - Throws: ``SignetError/unsupportedProfile(_:)``.
  func account(_ id: Account.ID) throws(SignetError) -> AccountState {
    guard let all = object["accounts"] else { return AccountState() }
    guard case .object(let all) = all else { return try Self.state(all) }
    return try Self.state(all[id.description])
  }

  /// The imported accounts with a stored state.
  var accountIDs: [Account.ID] {
    guard case .object(let all)? = object["accounts"] else { return [] }
    return all.members.compactMap { Account.ID($0.name) }
  }

  mutating func setAccount(_ state: AccountState) {
    let json = state.json
    object["account"] = json.isEmpty ? nil : .object(json)
  }

  mutating func setAccount(_ id: Account.ID, _ state: AccountState?) {
    var all = JSONObject()
    if case .object(let present)? = object["accounts"] { all = present }
    let json = state?.json ?? [:]
    all[id.description] = json.isEmpty ? nil : .object(json)
    object["accounts"] = all.isEmpty ? nil : .object(all)
  }

  private static func state(_ value: JSONValue?) throws(SignetError) -> AccountState {
    switch value {
    case nil: return AccountState()
    case .object(let object)?: return try AccountState(object)
    default:
      throw .unsupportedProfile(.invalid(member: "account", reason: "is not of this version"))
    }
  }

  /// Returns the metadata for a container that replaces another one.
  ///
  /// - Parameters:
  ///   - replaced: The metadata of the replaced container.
  ///   - current: The metadata of the new container.
  ///   - isRenewal: True for the same container with new keys, which keeps the whole state. False for a new container of
  ///     the server, which keeps only the user's manual lock.
  /// - Returns: The metadata to store.
  static func carrying(_ replaced: [UInt8], over current: [UInt8], isRenewal: Bool) -> [UInt8] {
    var next = ContainerMetadata(parsing: current)
    let before = ContainerMetadata(parsing: replaced)
    if !isRenewal {
      do throws(SignetError) {
        guard let manual = try before.account().lock.manual else { return current }
        var state = try next.account()
        guard state.lock.manual == nil else { return current }
        try state.lock(naming: nil, of: AccountPolicySet(), reason: manual.reason, at: manual.since)
        next.setAccount(state)
        return next.bytes
      } catch {
        // If this version cannot read the lock, the state is carried over unchanged, so the container stays locked.
      }
    }
    next.object["account"] = before.object["account"]
    return next.bytes
  }
}
