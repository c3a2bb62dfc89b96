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
  /// The word of a container's device that an order was done.
  case receipt(order: Int, container: Int)
  /// A container's device says that it has deleted the container, or was made to.
  case end(container: Int, isWiped: Bool)
  case lockDevice(user: Int, device: Int)
  case unlockDevice(user: Int, device: Int)
  case revokeDevice(user: Int, device: Int)
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
  /// What UAF tokens are sent to, on a device that says which it is, or on one that does not.
  case addTarget(user: Int, device: Int?)
  case removeTarget(Int)
  /// The user takes away the keys and targets on a device.
  case removeUAF(user: Int, device: Int)
  /// A party has a token sent: for a key that is to be registered, or for a login.
  case token(target: Int, isRegistration: Bool, request: Int?, party: Int)
  /// Redeems a token, and makes a key on a device that the client names, or logs in with one.
  case registerByToken(Int, device: Int?)
  case loginByToken(Int, key: Int, counter: UInt32)
  case refuseToken(Int)
  case enrolApp(user: Int)
  case message(app: Int, lifetime: Int64, party: Int)
  case answer(message: Int, approves: Bool)
  case removeApp(Int)
  case addClient(Int)
  case revokeClient(Int)
  /// A client of OpenID Connect asks a user, who has these apps and targets.
  case backchannel(user: Int, apps: [Int], targets: [Int], lifetime: Int64, client: Int)
  /// To what such a request has sent to an app.
  case answerRequest(Int, app: Int, approves: Bool)
  /// The same to a target.
  case answerRequestByKey(Int, target: Int, key: Int, counter: UInt32)
  /// A client looks how its request stands, and gets tokens for it.
  case poll(request: Int, client: Int)
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
  /// Of clients of OpenID Connect.
  static let openIDClientCount = 2
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
  init(seed: UInt64, count: Int = 50) {
    (self.seed, schedule) = (seed, seed)
    var random = SplitMix64(seed: seed)
    var drawing = Drawing()
    actions = (0..<count).map { drawing.action(at: $0, &random) }
    kept = Array(0..<count)
  }

  /// Who does an action.
  static func client(of place: Int) -> Int { place % clientCount }

  /// Draws actions that mostly are about what there is.
  private struct Drawing {
    var containers: [Int] = []
    var orders: [Int] = []
    var requests: [Int] = []
    var keys: [Int] = []
    var apps: [Int] = []
    var messages: [Int] = []
    /// The apps and the targets that those of clients of OpenID Connect are sent to.
    var backchannel: [Int: (apps: [Int], targets: [Int])] = [:]
    var targets: [Int] = []
    var tokens: [Int: (user: Int, isRegistration: Bool)] = [:]
    var counter: Int64 = 0
    /// What goes on with something that was drawn, once the place is reached.
    var planned: [(place: Int, action: Action)] = []
    /// At first there has to be somebody with something.
    let first: [Action] =
      (0..<History.userCount).map { .addUser($0) } + (0..<History.partyCount).map { .addParty($0) }
      + (0..<History.openIDClientCount).map { .addClient($0) }
      + (0..<4).map { .enrol(user: $0 % 2, device: $0 % History.deviceCount) }
    /// Whose a container, a key, a target or an app is.
    var owners: [Int: Int] = [:]
    /// On which device a container, a key or a target is, or for which an order is.
    var devices: [Int: Int] = [:]

    mutating func action(at place: Int, _ random: inout SplitMix64) -> Action {
      let action: Action
      if place < first.count {
        action = first[place]
      } else if let next = planned.firstIndex(where: { $0.place <= place }) {
        action = planned.remove(at: next).action
      } else {
        action = next(place: place, &random)
      }
      switch action {
      case .enrol(let user, let device):
        containers.append(place)
        (owners[place], devices[place]) = (user, device)
      case .renew(let container):
        containers.append(place)
        (owners[place], devices[place]) = (owners[container], devices[container])
      case .lock(let container), .unlock(let container), .wipe(let container):
        orders.append(place)
        (owners[place], devices[place]) = (owners[container], devices[container])
      case .lockDevice(let user, let device), .unlockDevice(let user, let device):
        orders.append(place)
        (owners[place], devices[place]) = (user, device)
      case .enrolApp(let user):
        apps.append(place)
        owners[place] = user
      case .registerKey(let user, let device):
        keys.append(place)
        (owners[place], devices[place]) = (user, device)
      case .registerKeyOf(_, let user):
        keys.append(place)
        owners[place] = user
      case .registerByToken(let token, let device):
        keys.append(place)
        (owners[place], devices[place]) = (tokens[token]?.user, device)
      case .addTarget(let user, let device):
        targets.append(place)
        (owners[place], devices[place]) = (user, device)
      case .token(let target, let isRegistration, _, _):
        tokens[place] = (owners[target] ?? 0, isRegistration)
        planned.append((place + 3 + Int(random.next() % 5), use(of: place, &random)))
      case .ask: requests.append(place)
      case .backchannel(let user, let apps, let targets, _, let client):
        requests.append(place)
        backchannel[place] = (apps, targets)
        plan(after: place, of: user, client, &random)
      default: break
      }
      return action
    }

    /// What a token is for, with a key of the user's if it is a login.
    private func use(of token: Int, _ random: inout SplitMix64) -> Action {
      guard let (user, isRegistration) = tokens[token] else { return .sweep }
      let device = Int(random.next() % UInt64(History.deviceCount))
      let own = keys.filter { owners[$0] == user }
      if isRegistration { return .registerByToken(token, device: random.next() % 3 > 0 ? device : nil) }
      return own.isEmpty
        ? .refuseToken(token)
        : .loginByToken(token, key: pick(own, &random), counter: UInt32(clamping: counter + 1))
    }

    /// Most of what clients ask is accepted, and asked for; between the two something may befall the user.
    private mutating func plan(
      after place: Int, of user: Int, _ client: Int, _ random: inout SplitMix64
    ) {
      guard random.next() % 4 > 0, let (apps, targets) = backchannel[place] else { return }
      let answered = place + 4 + Int(random.next() % 4)
      var answers: [Action] = apps.map { .answerRequest(place, app: $0, approves: true) }
      answers += containers.filter { owners[$0] == user }.suffix(2).map {
        .decide(container: $0, request: place, accepts: true)
      }
      for key in keys.filter({ owners[$0] == user }).suffix(2) {
        let counter = UInt32(clamping: counter + 1)
        answers.append(.login(key: key, counter: counter, request: place, party: nil))
        answers += targets.suffix(2).map {
          .answerRequestByKey(place, target: $0, key: key, counter: counter)
        }
      }
      guard !answers.isEmpty else { return }
      planned.append((answered, answers[Int(random.next() % UInt64(answers.count))]))
      planned.append((answered + 3 + Int(random.next() % 6), .poll(request: place, client: client)))
    }

    private mutating func next(place: Int, _ random: inout SplitMix64) -> Action {
      let user = Int(random.next() % UInt64(History.userCount))
      let yes = random.next() % 3 > 0
      let party = Int(random.next() % UInt64(History.partyCount))
      counter += 1
      let device = Int(random.next() % UInt64(History.deviceCount))
      switch random.next() % 139 {
      case 0..<3: return .suspend(user)
      case 3..<6: return .resume(user)
      case 6..<7: return yes ? .delete(user) : .addUser(user)
      case 7..<12:
        return .enrol(user: user, device: device)
      case 12..<15:
        return .renew(container: pick(containers, &random))
      case 15..<17: return .revoke(container: pick(containers, &random))
      case 17..<20: return .lock(container: pick(containers, &random))
      case 20..<22: return .unlock(container: pick(containers, &random))
      case 22..<24:
        return .wipe(container: pick(containers, &random))
      case 24..<26:
        guard !orders.isEmpty else { return .sweep }
        return receipt(for: pick(orders, &random), &random)
      case 26..<36:
        // Sometimes one that is older.
        let back = yes ? 0 : Int64(random.next() % 4)
        return .code(container: pick(containers, &random), counter: max(1, counter - back), party: party)
      case 36..<50:
        return .ask(
          user: random.next() % 8 == 0 ? nil : user, lifetime: 20 + Int64(random.next() % 120), party: party)
      case 50..<68:
        guard !requests.isEmpty else { return .sweep }
        return .decide(container: pick(containers, &random), request: pick(requests, &random), accepts: yes)
      case 68..<71:
        return requests.isEmpty ? .sweep : .withdraw(request: pick(requests, &random), party: party)
      case 71..<72:
        if yes, !keys.isEmpty { return .registerAgain(key: pick(keys, &random), user: user) }
        return .registerKeyOf(container: pick(containers, &random), user: user)
      case 72..<75:
        return .registerKey(user: user, device: random.next() % 3 > 0 ? device : nil)
      case 75..<82:
        guard !keys.isEmpty else { return .sweep }
        let request = requests.isEmpty || random.next() % 2 == 0 ? nil : pick(requests, &random)
        return .login(
          key: pick(keys, &random), counter: UInt32(clamping: yes ? counter : 1), request: request,
          party: random.next() % 2 == 0 ? nil : party)
      case 82..<83: return keys.isEmpty ? .sweep : .removeKey(pick(keys, &random))
      case 83..<86: return .enrolApp(user: user)
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
      case 100..<107:
        return .backchannel(
          user: user, apps: apps.filter { owners[$0] == user },
          targets: targets.filter { owners[$0] == user },
          lifetime: 20 + Int64(random.next() % 120), client: client(&random))
      case 107..<109:
        guard !backchannel.isEmpty else { return .sweep }
        let request = pick(backchannel.keys.sorted(), &random)
        guard let (apps, targets) = backchannel[request], !apps.isEmpty || !targets.isEmpty else {
          return .poll(request: request, client: client(&random))
        }
        if targets.isEmpty || !apps.isEmpty && yes {
          return .answerRequest(request, app: pick(apps, &random), approves: random.next() % 3 > 0)
        }
        guard !keys.isEmpty else { return .sweep }
        return .answerRequestByKey(
          request, target: pick(targets, &random), key: pick(keys, &random),
          counter: UInt32(clamping: counter))
      case 109..<115:
        guard !backchannel.isEmpty else { return .sweep }
        return .poll(request: pick(backchannel.keys.sorted(), &random), client: client(&random))
      case 115..<118: return .lockDevice(user: user, device: device)
      case 118..<121: return .unlockDevice(user: user, device: device)
      case 121..<122: return .revokeDevice(user: user, device: device)
      case 122..<124: return .end(container: pick(containers, &random), isWiped: yes)
      case 124..<126: return orders.last.map { receipt(for: $0, &random) } ?? .sweep
      case 126..<130: return .addTarget(user: user, device: yes ? device : nil)
      case 130..<131: return targets.isEmpty ? .sweep : .removeTarget(pick(targets, &random))
      case 131..<132: return .removeUAF(user: user, device: device)
      case 132..<136:
        guard !targets.isEmpty else { return .sweep }
        let isRegistration = random.next() % 3 == 0
        let request = isRegistration || requests.isEmpty || yes ? nil : pick(requests, &random)
        return .token(
          target: pick(targets, &random), isRegistration: isRegistration, request: request, party: party)
      case 136..<137: return tokens.isEmpty ? .sweep : .refuseToken(pick(tokens.keys.sorted(), &random))
      case 137..<138: return tokens.isEmpty ? .sweep : use(of: pick(tokens.keys.sorted(), &random), &random)
      case 138..<139: return .revokeClient(client(&random))
      default: return .sweep
      }
    }

    /// That of a container on the device which an order is for.
    private func receipt(for order: Int, _ random: inout SplitMix64) -> Action {
      let bound = containers.filter { owners[$0] == owners[order] && devices[$0] == devices[order] }
      return bound.isEmpty ? .sweep : .receipt(order: order, container: pick(bound, &random))
    }

    private func client(_ random: inout SplitMix64) -> Int {
      Int(random.next() % UInt64(History.openIDClientCount))
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

  static func client(_ number: Int) -> String { "client\(number)" }

  /// The message of a request to an app.
  static func message(of request: Int, to app: Int) -> String { "g\(request)-\(app)" }

  /// The operation of a request whose token goes to a target.
  static func operation(of request: Int, to target: Int) -> String { "s\(request)-\(target)" }

  /// Whose a container, a key, an app or a message is, by what made it.
  func user(of place: Int) -> String {
    switch actions[place] {
    case .enrol(let user, _), .registerKey(let user, _), .registerKeyOf(_, let user), .enrolApp(let user),
      .addTarget(let user, _):
      Self.user(user)
    case .token(let target, _, _, _): user(of: target)
    case .registerByToken(let token, _): user(of: token)
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
