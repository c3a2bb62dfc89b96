import AccountModel
import SignetTestKit

/// Draws actions, mostly about existing objects.
struct Drawing {
  private var containers: [Int] = []
  private var orders: [Int] = []
  private var requests: [Int] = []
  /// The apps and targets of backchannel requests, with their clients.
  private var backchannel: [Int: (apps: [Int], targets: [Int], client: Int)] = [:]
  private var keys: [Int] = []
  private var targets: [Int] = []
  private var operations: [Int: (user: Int, isRegistration: Bool)] = [:]
  private var apps: [Int] = []
  private var messages: [Int] = []
  /// The owner of a container, a request, a key, a target or an app.
  private var owners: [Int: Int] = [:]
  /// The device of a container, a key, a target or an order.
  private var devices: [Int: Int] = [:]
  private var counter: Int64 = 0
  private var tokens: [Int] = []
  /// The next counter of a counter-based token.
  private var codes: [Int: Int64] = [:]
  /// Follow-up actions, each at its index.
  private var planned: [(place: Int, action: Action)] = []

  /// The initial users, parties and clients.
  private static let first: [Action] =
    (0..<History.userCount).map { .addUser($0) } + (0..<History.partyCount).map { .addParty($0) }
    + (0..<History.openIDClientCount).map { .addClient($0) }
    + [
      .enrol(user: 0, device: 0), .enrol(user: 1, device: 1), .registerKey(user: 1, device: 1),
      .enrolApp(user: 2), .addToken(user: 0),
    ]

  /// Draws the action at an index, after those before it.
  mutating func action(at place: Int, _ random: inout SplitMix64) -> Action {
    let action: Action
    counter += 1
    if place < Self.first.count {
      action = Self.first[place]
    } else if let next = planned.firstIndex(where: { $0.place <= place }) {
      action = planned.remove(at: next).action
    } else {
      action = next(&random)
    }
    note(action, at: place, &random)
    return action
  }

  /// Records the objects of an action, and plans its follow-ups.
  private mutating func note(_ action: Action, at place: Int, _ random: inout SplitMix64) {
    switch action {
    case .suspend(let user):
      if random.next() % 4 > 0 { planned.append((place + 2 + Int(random.next() % 7), .resume(user))) }
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
    case .addToken(let user):
      tokens.append(place)
      owners[place] = user
      if let user, random.next() % 4 > 0 { planTaking(of: place, to: user, after: place, &random) }
    case .assign(let token, let user):
      owners[token] = user
      if let user, random.next() % 4 > 0 { planTaking(of: token, to: user, after: place, &random) }
    case .code(let maker, let user, let counter, _, let party):
      noteCode(of: maker, counter, used: 1)
      // The same code again, from another address.
      if random.next() % 4 == 0 {
        planned.append(
          (
            place + 1 + Int(random.next() % 3),
            .code(of: maker, user: user, counter: counter, address: address(&random), party: party)
          ))
      }
    case .verify(let token, _, let counter, _, _): noteCode(of: token, counter, used: 1)
    case .resynchronise(let maker, _, let counter, _, _): noteCode(of: maker, counter, used: 2)
    case .ask(let user, _, _):
      requests.append(place)
      owners[place] = user
    case .backchannel(let user, let apps, let targets, _, let client):
      requests.append(place)
      owners[place] = user
      backchannel[place] = (apps, targets, client)
      plan(after: place, of: user, &random)
    case .registerKey(let user, let device):
      keys.append(place)
      (owners[place], devices[place]) = (user, device)
    case .registerKeyOf(_, let user):
      keys.append(place)
      owners[place] = user
    case .registerByToken(let token, let device):
      keys.append(place)
      (owners[place], devices[place]) = (operations[token]?.user, device)
    case .addTarget(let user, let device):
      targets.append(place)
      (owners[place], devices[place]) = (user, device)
    case .token(let target, let isRegistration, _, _):
      operations[place] = (owners[target] ?? 0, isRegistration)
      let used = place + 3 + Int(random.next() % 6)
      if random.next() % 4 == 0, let user = owners[target], let device = devices[target] {
        planned.append((used - 2, .lockDevice(user: user, device: device)))
      }
      planned.append((used + 1, use(of: place, &random)))
    case .enrolApp(let user):
      apps.append(place)
      owners[place] = user
    case .message(let app, _, _):
      messages.append(place)
      requests.append(place)
      owners[place] = owners[app]
    default: break
    }
  }

  /// Plans the verification and the use of a token, with a possible change in between.
  private mutating func planTaking(
    of token: Int, to user: Int, after place: Int, _ random: inout SplitMix64
  ) {
    let (verified, next) = (place + 2 + Int(random.next() % 4), codes[token] ?? 0)
    let isTimed = isTimed(token)
    planned.append(
      (
        verified,
        .verify(
          token: token, user: random.next() % 4 == 0 ? nil : user, counter: isTimed ? 0 : next,
          address: address(&random), party: party(&random))
      ))
    let used = verified + 4 + Int(random.next() % 4)
    // A time-based code changes after some seconds.
    if isTimed { planned.append((used - 1, .pass(seconds: Traits.period))) }
    planned.append(
      (
        used,
        .code(
          of: token, user: user, counter: isTimed ? 0 : next + 1, address: address(&random),
          party: party(&random))
      ))
  }

  private func isTimed(_ maker: Int) -> Bool {
    Traits.isTimed(tokens.contains(maker) ? "x\(maker)" : "c\(maker)")
  }

  private mutating func noteCode(of maker: Int, _ counter: Int64, used: Int64) {
    guard !isTimed(maker), counter <= (codes[maker] ?? 0) + 10 else { return }
    codes[maker] = max(codes[maker] ?? 0, counter + used)
  }

  /// Plans the acceptance and the polling of most backchannel requests, with a possible change to the user in between.
  private mutating func plan(
    after place: Int, of user: Int, _ random: inout SplitMix64
  ) {
    guard random.next() % 4 > 0, let (apps, targets, client) = backchannel[place] else { return }
    if random.next() % 4 == 0 {
      // The client polls before there is an answer, and again after some seconds.
      planned.append((place + 2, .poll(request: place, client: client)))
      planned.append((place + 3, .pass(seconds: 1 + Int64(random.next() % 12))))
      planned.append((place + 3, .poll(request: place, client: client)))
    }
    var answers: [Action] = apps.suffix(2).map { .answerRequest(place, app: $0, approves: true) }
    answers += containers.filter { owners[$0] == user }.suffix(2).map {
      .decide(container: $0, request: place, accepts: true, isNumberRight: true)
    }
    for key in keys.filter({ owners[$0] == user }).suffix(2) {
      let counter = UInt32(clamping: counter + 5)
      answers.append(.login(key: key, counter: counter, request: place, party: nil))
      answers += targets.suffix(2).map { .answerRequestByKey(place, target: $0, key: key, counter: counter) }
    }
    guard !answers.isEmpty else { return }
    let answered = place + 4 + Int(random.next() % 4)
    planned.append((answered, answers[Int(random.next() % UInt64(answers.count))]))
    if random.next() % 8 == 0 { planned.append((answered + 1, .revokeClient(client))) }
    let found = answered + 3 + Int(random.next() % 7)
    // By now a client is notified, or a server crashes during it.
    if Traits.delivery(of: History.client(client)) != .poll {
      planned.append((found - 1, .send))
    }
    if !History.isPushed(client) { planned.append((found, .poll(request: place, client: client))) }
    if random.next() % 8 == 0 { planned.append((found + 1, .crash)) }
  }

  // MARK: What is drawn

  private func next(_ random: inout SplitMix64) -> Action {
    let user = Int(random.next() % UInt64(History.userCount))
    switch random.next() % 160 {
    case 0..<3: return .suspend(user)
    case 3..<5: return .resume(user)
    case 5..<6: return isLikely(&random) ? .delete(user) : .addUser(user)
    case 6..<28: return nextOfContainer(user, &random)
    case 28..<34: return nextOfDevice(user, &random)
    case 34..<71: return nextOfParty(user, &random)
    case 71..<90: return nextOfClient(user, &random)
    case 90..<103: return nextOfKey(user, &random)
    case 103..<115: return nextOfTarget(user, &random)
    case 115..<127: return nextOfApp(user, &random)
    case 127..<131: return .pass(seconds: 1 + Int64(random.next() % 60))
    case 131..<132: return .crash
    case 132..<133: return .revokeParty(party(&random))
    case 133..<158: return nextOfCodes(user, &random)
    default: return .sweep
    }
  }

  private func nextOfContainer(_ user: Int, _ random: inout SplitMix64) -> Action {
    let container = pick(containers, &random)
    switch random.next() % 22 {
    case 0..<3: return .renew(container: container)
    case 3..<5: return .revoke(container: container)
    case 5..<8: return .lock(container: container)
    case 8..<10: return .unlock(container: container)
    case 10..<12: return .wipe(container: container)
    case 12..<14: return .end(container: container, isWiped: isLikely(&random))
    case 14..<17:
      guard !orders.isEmpty else { return .lock(container: container) }
      let order = pick(orders, &random)
      let bound = containers.filter { owners[$0] == owners[order] && devices[$0] == devices[order] }
      return .receipt(order: order, container: bound.isEmpty ? container : pick(bound, &random))
    default: return .enrol(user: user, device: device(&random))
    }
  }

  private func nextOfDevice(_ user: Int, _ random: inout SplitMix64) -> Action {
    // Mostly a device with an authenticator.
    let bound = pick(containers + keys, &random)
    let (owner, place) = (owners[bound] ?? user, devices[bound] ?? device(&random))
    let (user, device) = isLikely(&random) ? (owner, place) : (user, device(&random))
    return switch random.next() % 6 {
    case 0..<3: .lockDevice(user: user, device: device)
    case 3..<5: .unlockDevice(user: user, device: device)
    default: .revokeDevice(user: user, device: device)
    }
  }

  private func nextOfCodes(_ user: Int, _ random: inout SplitMix64) -> Action {
    let token = pick(tokens, &random)
    let maker = isLikely(&random) ? token : pick(containers, &random)
    let owner = isLikely(&random) ? owners[maker] ?? user : user
    let (address, party) = (address(&random), party(&random))
    switch random.next() % 24 {
    case 0..<3: return .addToken(user: isLikely(&random) ? user : nil)
    case 3..<5: return .assign(token: token, user: isLikely(&random) ? user : nil)
    case 5..<7: return .disable(token: token, isLikely(&random))
    case 7..<8: return .removeToken(token)
    case 8..<9: return .unlockUser(owner)
    case 9..<11:
      return .verify(
        token: token, user: isLikely(&random) ? owners[token] ?? user : nil,
        counter: place(of: token, &random), address: address, party: party)
    case 11..<13:
      let away = Int64(random.next() % 4) * 15
      return .resynchronise(
        of: maker, user: owner, counter: place(of: maker, &random) + away, address: address, party: party)
    default:
      return .code(
        of: maker, user: owner, counter: place(of: maker, &random), address: address, party: party)
    }
  }

  /// The counter of a code, mostly the next one; for time-based codes, the offset of the clock.
  private func place(of maker: Int, _ random: inout SplitMix64) -> Int64 {
    let draw = random.next() % 8
    if isTimed(maker) { return [0, 0, 0, 0, 1, -1, 2, -2][Int(draw)] }
    let next = codes[maker] ?? 0
    return switch draw {
    case 0..<4: next
    case 4: next + 3
    case 5: next + 12
    default: max(0, next - 1)
    }
  }

  private func nextOfParty(_ user: Int, _ random: inout SplitMix64) -> Action {
    let party = party(&random)
    switch random.next() % 33 {
    case 0..<16 where !requests.isEmpty:
      let request = pick(requests, &random)
      let own = containers.filter { owners[$0] == owners[request] }
      return .decide(
        container: pick(own.isEmpty || !isLikely(&random) ? containers : own, &random), request: request,
        accepts: isLikely(&random), isNumberRight: isLikely(&random))
    case 16..<19 where !requests.isEmpty:
      return .withdraw(request: pick(requests, &random), party: party)
    default:
      // Mostly a user with an authenticator.
      let owner = owners[pick(containers + keys, &random)] ?? user
      let asked = isLikely(&random) ? owner : user
      return .ask(user: random.next() % 8 == 0 ? nil : asked, lifetime: lifetime(&random), party: party)
    }
  }

  private func nextOfClient(_ user: Int, _ random: inout SplitMix64) -> Action {
    let client = Int(random.next() % UInt64(History.openIDClientCount))
    let asked = backchannel.keys.sorted()
    switch random.next() % 22 {
    case 19..<21: return .send
    case 21..<22 where !asked.isEmpty:
      let request = pick(asked, &random)
      return .pollOften(request: request, client: backchannel[request]?.client ?? client)
    case 0..<3 where !asked.isEmpty:
      let request = pick(asked, &random)
      guard let (apps, targets, _) = backchannel[request], !apps.isEmpty || !targets.isEmpty else {
        return .poll(request: request, client: client)
      }
      if !apps.isEmpty, targets.isEmpty || isLikely(&random) {
        return .answerRequest(request, app: pick(apps, &random), approves: isLikely(&random))
      }
      let own = keys.filter { owners[$0] == owners[request] }
      return own.isEmpty
        ? .sweep
        : .answerRequestByKey(
          request, target: pick(targets, &random), key: pick(own, &random), counter: UInt32(clamping: counter)
        )
    case 3..<9 where !asked.isEmpty:
      let request = pick(asked, &random)
      let asker = backchannel[request]?.client ?? client
      return .poll(request: request, client: isLikely(&random) ? asker : client)
    case 9..<10: return .revokeClient(client)
    default:
      return .backchannel(
        user: user, apps: apps.filter { owners[$0] == user }, targets: targets.filter { owners[$0] == user },
        lifetime: lifetime(&random), client: client)
    }
  }

  private func nextOfKey(_ user: Int, _ random: inout SplitMix64) -> Action {
    switch random.next() % 13 {
    case 0..<1:
      return isLikely(&random)
        ? .registerAgain(key: pick(keys, &random), user: user)
        : .registerKeyOf(container: pick(containers, &random), user: user)
    case 1..<8:
      let key = pick(keys, &random)
      let shown = requests.filter { !Traits.hasNumber("t\($0)") || backchannel[$0] != nil }
      let own = shown.filter { owners[$0] == owners[key] }
      let request =
        own.isEmpty || random.next() % 2 == 0 ? nil : pick(isLikely(&random) ? own : shown, &random)
      return .login(
        key: key, counter: UInt32(clamping: isLikely(&random) ? counter : 1), request: request,
        party: random.next() % 2 == 0 ? nil : party(&random))
    case 8..<9: return .removeKey(pick(keys, &random))
    default: return .registerKey(user: user, device: isLikely(&random) ? device(&random) : nil)
    }
  }

  private func nextOfTarget(_ user: Int, _ random: inout SplitMix64) -> Action {
    switch random.next() % 12 {
    case 0..<1 where !targets.isEmpty: return .removeTarget(pick(targets, &random))
    case 1..<2: return .removeUAF(user: user, device: device(&random))
    case 2..<6 where !targets.isEmpty:
      let target = pick(targets, &random)
      let isRegistration = random.next() % 3 == 0
      let own = requests.filter {
        owners[$0] == owners[target] && (!Traits.hasNumber("t\($0)") || backchannel[$0] != nil)
      }
      return .token(
        target: target, isRegistration: isRegistration,
        request: isRegistration || own.isEmpty || isLikely(&random) ? nil : pick(own, &random),
        party: party(&random))
    case 6..<8 where !operations.isEmpty:
      let token = pick(operations.keys.sorted(), &random)
      return isLikely(&random) ? use(of: token, &random) : .refuseToken(token)
    default: return .addTarget(user: user, device: isLikely(&random) ? device(&random) : nil)
    }
  }

  /// Draws the use of a token, with a key of the user's for a login.
  private func use(of token: Int, _ random: inout SplitMix64) -> Action {
    guard let (user, isRegistration) = operations[token] else { return .sweep }
    if isRegistration { return .registerByToken(token, device: isLikely(&random) ? device(&random) : nil) }
    let own = keys.filter { owners[$0] == user }
    return own.isEmpty
      ? .refuseToken(token)
      : .loginByToken(token, key: pick(own, &random), counter: UInt32(clamping: counter + 5))
  }

  private func nextOfApp(_ user: Int, _ random: inout SplitMix64) -> Action {
    switch random.next() % 12 {
    case 0..<3: .message(app: pick(apps, &random), lifetime: lifetime(&random), party: party(&random))
    case 3..<7 where !messages.isEmpty:
      .answer(message: pick(messages, &random), approves: isLikely(&random))
    case 7..<8: .removeApp(pick(apps, &random))
    default: .enrolApp(user: user)
    }
  }

  // MARK: Parts of them

  /// True in two of three draws.
  private func isLikely(_ random: inout SplitMix64) -> Bool { random.next() % 3 > 0 }

  private func party(_ random: inout SplitMix64) -> Int { Int(random.next() % UInt64(History.partyCount)) }

  /// The address of an end user.
  private func address(_ random: inout SplitMix64) -> Int { Int(random.next() % 2) }

  private func device(_ random: inout SplitMix64) -> Int { Int(random.next() % UInt64(History.deviceCount)) }

  /// The lifetime of a request in seconds.
  private func lifetime(_ random: inout SplitMix64) -> Int64 { 20 + Int64(random.next() % 120) }

  /// Picks one of the indices, the later ones more often.
  private func pick(_ places: [Int], _ random: inout SplitMix64) -> Int {
    let (one, other) = (random.next() % UInt64(places.count), random.next() % UInt64(places.count))
    return places[Int(max(one, other))]
  }
}
