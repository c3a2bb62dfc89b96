import AccountModel
import SignetTestKit

/// What a client does in a history; what it makes is named by its place there.
enum Action: Hashable, Sendable {
  case addUser(Int)
  case suspend(Int)
  case resume(Int)
  case delete(Int)
  case addParty(Int)
  case revokeParty(Int)
  /// Invites a device, whose two messages make a container.
  case enrol(user: Int, device: Int)
  /// Makes the successor of a container.
  case renew(container: Int)
  case revoke(container: Int)
  case lock(container: Int)
  case unlock(container: Int)
  case wipe(container: Int)
  /// The device's word that a wipe was done.
  case wiped(order: Int)
  case code(container: Int, counter: Int64, party: Int)
  /// Asks a user, or anybody.
  case ask(user: Int?, lifetime: Int64, party: Int)
  case decide(container: Int, request: Int, accepts: Bool)
  case withdraw(request: Int, party: Int)
  /// On a device that says which it is, or on one that does not.
  case registerKey(user: Int, device: Int?)
  /// A key that there is or was, for whomever, or under a new name the public key of a container.
  case registerAgain(key: Int, user: Int)
  case registerKeyOf(container: Int, user: Int)
  /// Asked for by the user, or by a party that has it sent to the user's device.
  case login(key: Int, counter: UInt32, request: Int?, party: Int?)
  case removeKey(Int)
  case enrolApp(user: Int)
  case message(app: Int, lifetime: Int64, party: Int)
  case answer(message: Int, approves: Bool)
  case removeApp(Int)
  case pass(seconds: Int64)
  case sweep
  /// A server goes down with what it is about, and another takes its place.
  case crash
}

/// What several clients of two servers do: each does its actions in order, and the scheduler decides who goes on.
struct History: Sendable {
  static let userCount = 3
  static let deviceCount = 2
  static let partyCount = 2
  static let clientCount = 4
  static let serverCount = 2
  /// So small that histories come to its end.
  static let budget = Model.Budget(pending: 4, challenges: 5, wait: 20, longestWait: 60)
  /// An action begins once all those have ended that are so many places before it.
  static let window = 5

  let seed: UInt64
  /// Seeds the order in which tasks and steps go on, and what goes wrong.
  var schedule: UInt64
  /// All that was drawn, by which names are found.
  let actions: [Action]
  /// The places of those that are done.
  var kept: [Int]

  /// Draws a history.
  init(seed: UInt64, count: Int = 48) {
    (self.seed, schedule) = (seed, seed)
    var random = SplitMix64(seed: seed)
    var drawing = Drawing()
    actions = (0..<count).map { drawing.next(place: $0, &random) }
    kept = Array(0..<count)
  }

  /// Who does an action.
  static func client(of place: Int) -> Int { place % clientCount }

  /// Draws actions that mostly are about what there is.
  private struct Drawing {
    var containers: [Int] = []
    var wipes: [Int] = []
    var requests: [Int] = []
    var keys: [Int] = []
    var apps: [Int] = []
    var messages: [Int] = []
    var counter: Int64 = 0

    mutating func next(place: Int, _ random: inout SplitMix64) -> Action {
      // At first there has to be somebody with something.
      if place < History.userCount { return .addUser(place) }
      if place < History.userCount + History.partyCount { return .addParty(place - History.userCount) }
      if place < History.userCount + History.partyCount + 4 {
        containers.append(place)
        return .enrol(user: place % 2, device: place % History.deviceCount)
      }
      let user = Int(random.next() % UInt64(History.userCount))
      let yes = random.next() % 3 > 0
      let party = Int(random.next() % UInt64(History.partyCount))
      counter += 1
      switch random.next() % 100 {
      case 0..<3: return .suspend(user)
      case 3..<6: return .resume(user)
      case 6..<7: return yes ? .delete(user) : .addUser(user)
      case 7..<12:
        containers.append(place)
        return .enrol(user: user, device: Int(random.next() % UInt64(History.deviceCount)))
      case 12..<15:
        let renewed = pick(containers, &random)
        containers.append(place)
        return .renew(container: renewed)
      case 15..<17: return .revoke(container: pick(containers, &random))
      case 17..<20: return .lock(container: pick(containers, &random))
      case 20..<22: return .unlock(container: pick(containers, &random))
      case 22..<24:
        let container = pick(containers, &random)
        wipes.append(place)
        return .wipe(container: container)
      case 24..<26: return wipes.isEmpty ? .sweep : .wiped(order: pick(wipes, &random))
      case 26..<36:
        // Sometimes one that is older.
        let back = yes ? 0 : Int64(random.next() % 4)
        return .code(container: pick(containers, &random), counter: max(1, counter - back), party: party)
      case 36..<50:
        requests.append(place)
        return .ask(
          user: random.next() % 8 == 0 ? nil : user, lifetime: 20 + Int64(random.next() % 120), party: party)
      case 50..<68:
        guard !requests.isEmpty else { return .sweep }
        return .decide(container: pick(containers, &random), request: pick(requests, &random), accepts: yes)
      case 68..<71:
        return requests.isEmpty ? .sweep : .withdraw(request: pick(requests, &random), party: party)
      case 71..<72:
        if yes, !keys.isEmpty { return .registerAgain(key: pick(keys, &random), user: user) }
        let container = pick(containers, &random)
        keys.append(place)
        return .registerKeyOf(container: container, user: user)
      case 72..<75:
        keys.append(place)
        let device = Int(random.next() % UInt64(History.deviceCount + 1))
        return .registerKey(user: user, device: device < History.deviceCount ? device : nil)
      case 75..<82:
        guard !keys.isEmpty else { return .sweep }
        let request = requests.isEmpty || random.next() % 2 == 0 ? nil : pick(requests, &random)
        return .login(
          key: pick(keys, &random), counter: UInt32(clamping: yes ? counter : 1), request: request,
          party: random.next() % 2 == 0 ? nil : party)
      case 82..<83: return keys.isEmpty ? .sweep : .removeKey(pick(keys, &random))
      case 83..<86:
        apps.append(place)
        return .enrolApp(user: user)
      case 86..<89:
        guard !apps.isEmpty else { return .sweep }
        messages.append(place)
        return .message(app: pick(apps, &random), lifetime: 20 + Int64(random.next() % 120), party: party)
      case 89..<93:
        return messages.isEmpty ? .sweep : .answer(message: pick(messages, &random), approves: yes)
      case 93..<94: return apps.isEmpty ? .sweep : .removeApp(pick(apps, &random))
      case 94..<97: return .pass(seconds: 1 + Int64(random.next() % 60))
      case 97..<98: return .crash
      case 98..<99: return .revokeParty(party)
      default: return .sweep
      }
    }

    /// One of those, the later ones more often.
    private func pick(_ places: [Int], _ random: inout SplitMix64) -> Int {
      let (one, other) = (random.next() % UInt64(places.count), random.next() % UInt64(places.count))
      return places[Int(max(one, other))]
    }
  }

  // MARK: Names

  static func user(_ number: Int) -> String { "user\(number)" }

  static func party(_ number: Int) -> String { "party\(number)" }

  /// Whose a container, a key, an app or a message is, by what made it.
  func user(of place: Int) -> String {
    switch actions[place] {
    case .enrol(let user, _), .registerKey(let user, _), .registerKeyOf(_, let user), .enrolApp(let user):
      Self.user(user)
    case .renew(let container): user(of: container)
    case .message(let app, _, _): user(of: app)
    default: preconditionFailure("nothing of a user is made there")
    }
  }

  /// The device of a container.
  func device(of container: Int) -> UInt8 {
    switch actions[container] {
    case .enrol(_, let device): UInt8(device)
    case .renew(let renewed): device(of: renewed)
    default: preconditionFailure("no container is made there")
    }
  }

  /// The invite with which the first of a row of containers began.
  func activation(of container: Int) -> String {
    switch actions[container] {
    case .renew(let renewed): activation(of: renewed)
    default: "a\(container)"
    }
  }
}
