import Glibc
import SignetCrypto
import SignetSystem
package import SignetVault

/// fprintd's first reader, over its own connection, for one thread.
struct FprintReader: ~Copyable {
  static let name = "net.reactivated.Fprint"
  static let interface = "net.reactivated.Fprint.Device"
  /// The time-out for freeing the sensor after a match.
  private static let releaseTimeLimit = Duration.seconds(3)
  /// More fingers than a user has; a longer list is rejected as malicious.
  private static let fingerLimit = 64

  private var bus: BusConnection
  private let service: String
  private let path: String

  private init(bus: consuming BusConnection, service: String, path: String) {
    self.bus = bus
    self.service = service
    self.path = path
  }

  /// Finds fprintd's default reader.
  ///
  /// - Returns: `nil` if there is no bus, no fprintd or no reader.
  static func first(
    at address: String, interruption: Interruption
  ) throws(BiometricFailure) -> FprintReader? {
    do throws(BusFailure) {
      var bus = try BusConnection(address, interruption: interruption)
      // Signals must come from the current owner's unique name; another program could take over the well-known name.
      guard let service = try bus.owner(of: name) else { return nil }
      let body = try bus.call(
        BusCall(
          service, "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager", "GetDefaultDevice"))
      guard let path = body.first?.text else { throw BusFailure.malformed }
      return FprintReader(bus: bus, service: service, path: path)
    } catch {
      let failure = BiometricFailure(error)
      if failure == .notCapable { return nil }
      throw failure
    }
  }

  /// The identity of the user's enrolled set; `nil` if it is empty.
  ///
  /// It covers the data that fprintd reports: the user, the kind of reader, and the names of the fingers.
  mutating func enrolledSet() throws(BiometricFailure) -> EnrolledSet? {
    let fingers: [String]
    do throws(BiometricFailure) {
      guard let names = try call("ListEnrolledFingers", .text("")).first?.texts else {
        throw BiometricFailure.unavailable("fprintd listed something else than fingers")
      }
      fingers = names
    } catch {
      if error == .notEnrolled { return nil }
      throw error
    }
    if fingers.isEmpty { return nil }
    guard fingers.count <= Self.fingerLimit else {
      throw .unavailable("fprintd listed \(fingers.count) fingers")
    }
    return EnrolledSet(user: getuid(), reader: try property("name"), fingers: fingers)
  }

  /// Runs tries until a finger matches or the limit is reached, and frees the sensor in every case.
  mutating func match(
    within limit: Duration, reason: String, hints: (BiometricHint) -> Void, mismatch: () -> MismatchVerdict
  ) throws(BiometricFailure) -> EnrolledSet {
    do throws(BusFailure) {
      try bus.watch(BusWatch(sender: service, path: path, interface: Self.interface))
      try bus.watch(
        BusWatch(
          sender: BusConnection.daemon, interface: BusConnection.daemon, member: "NameOwnerChanged",
          argument: service))
    } catch { throw BiometricFailure(error) }
    do throws(BiometricFailure) {
      try call("Claim", .text(""))
      try verifyFinger(within: limit, reason: reason, hints: hints, mismatch: mismatch)
      // Read while the sensor is claimed, so that no other program can enrol or delete. Read after the match, because after
      // a mismatch fprintd itself forgets fingers that are missing in the reader.
      guard let set = try enrolledSet() else { throw BiometricFailure.notEnrolled }
      finish("Release")
      return set
    } catch {
      if error != .busy {
        finish("VerifyStop")
        finish("Release")
      }
      throw error
    }
  }

  private mutating func verifyFinger(
    within limit: Duration, reason: String, hints: (BiometricHint) -> Void, mismatch: () -> MismatchVerdict
  ) throws(BiometricFailure) {
    let isSwipeSensor = try property("scan-type") == "swipe"
    let deadline = ContinuousClock.now + limit
    var remaining = FprintGate.triesPerMatch
    while true {
      try call("VerifyStart", .text("any"))
      // Only once: after a mismatch this hint would replace the mismatch message at once.
      if remaining == FprintGate.triesPerMatch {
        hints(isSwipeSensor ? .swipeSensor(reason: reason) : .touchSensor(reason: reason))
      }
      let matches = try verdict(until: deadline, hints: hints)
      finish("VerifyStop")
      if matches { return }
      remaining -= 1
      if mismatch() == .lockedOut {
        hints(.notRecognised(remaining: 0))
        throw .lockedOut
      }
      if remaining == 0 { throw .mismatch }
      hints(.notRecognised(remaining: remaining))
    }
  }

  /// Waits for the end of one verification; returns true if the finger matched.
  private mutating func verdict(
    until deadline: ContinuousClock.Instant, hints: (BiometricHint) -> Void
  ) throws(BiometricFailure) -> Bool {
    while true {
      let event: BusEvent
      do throws(BusFailure) { event = try bus.event(until: deadline) } catch {
        throw error == .timedOut ? .timedOut : BiometricFailure(error)
      }
      if event.member == "NameOwnerChanged" { throw .unavailable("fprintd ended") }
      guard event.member == "VerifyStatus" else { continue }
      switch event.body.first?.text {
      case "verify-match": return true
      case "verify-no-match": return false
      case "verify-retry-scan": hints(.tryAgain)
      case "verify-swipe-too-short": hints(.swipeTooShort)
      case "verify-finger-not-centered": hints(.notCentred)
      case "verify-remove-and-retry": hints(.liftAndTryAgain)
      case "verify-disconnected": throw .unavailable("the reader was removed")
      case "verify-unknown-error": throw .unavailable("the reader reported an error")
      default: throw .unavailable("fprintd sent a status that is not known")
      }
    }
  }

  @discardableResult private mutating func call(
    _ member: String, _ arguments: BusArgument...
  ) throws(BiometricFailure) -> [BusValue] {
    do throws(BusFailure) {
      return try bus.call(BusCall(service, path, Self.interface, member, arguments))
    } catch { throw BiometricFailure(error) }
  }

  private mutating func property(_ name: String) throws(BiometricFailure) -> String {
    do throws(BusFailure) {
      let body = try bus.call(
        BusCall(
          service, path, "org.freedesktop.DBus.Properties", "Get", .text(Self.interface), .text(name)))
      guard let text = body.first?.text else { throw BusFailure.malformed }
      return text
    } catch { throw BiometricFailure(error) }
  }

  /// Ends a verification or claim, even after cancellation.
  private mutating func finish(_ member: String) {
    do throws(BusFailure) {
      try bus.call(
        BusCall(service, path, Self.interface, member), within: Self.releaseTimeLimit, isInterruptible: false)
    } catch {
      // There was nothing to end, or fprintd has ended; closing the connection frees the sensor too.
    }
  }
}

extension EnrolledSet {
  /// SHA-256 over a label and the parts, each preceded by its length.
  ///
  /// - Parameters:
  ///   - user: The numeric user id.
  ///   - reader: The driver's name for the reader.
  ///   - fingers: The names of the fingers, in any order.
  package init(user: UInt32, reader: String, fingers: [String]) {
    let parts = ["signet enrolled set 1", String(user), reader] + Set(fingers).sorted()
    let bytes = parts.flatMap { part in
      let utf8 = Array(part.utf8)
      return unsafe withUnsafeBytes(of: UInt64(utf8.count).bigEndian) { unsafe Array($0) } + utf8
    }
    self.init(digest: HashFunction.sha256.digest(of: bytes))
  }
}

extension BiometricFailure {
  init(_ failure: BusFailure) {
    switch failure {
    case .connectionFailed(ENOENT): self = .notCapable
    case .interrupted: self = .cancelled
    case .refused(let name, let message): self.init(error: name, message: message)
    case .connectionFailed, .connectionLost, .timedOut, .malformed: self = .unavailable(failure.description)
    }
  }

  /// Translates an error of fprintd.
  private init(error: String, message: String) {
    switch error {
    // If a reader is removed between fprintd's list and the call, its object no longer exists.
    case "net.reactivated.Fprint.Error.NoSuchDevice", "org.freedesktop.DBus.Error.UnknownObject",
      "org.freedesktop.DBus.Error.UnknownMethod":
      self = .notCapable
    case "net.reactivated.Fprint.Error.NoEnrolledPrints": self = .notEnrolled
    case "net.reactivated.Fprint.Error.AlreadyInUse": self = .busy
    case "net.reactivated.Fprint.Error.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied":
      self = .notAuthorized
    default: self = .unavailable(TerminalText.sanitised("\(error): \(message)", limit: 200))
    }
  }
}
