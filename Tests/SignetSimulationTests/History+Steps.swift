import AccountModel

extension History {
  /// The steps of an action in order.
  ///
  /// - Parameters:
  ///   - place: The action's index.
  ///   - time: The time of its beginning.
  /// - Returns: The steps; none for an action that is not a client's.
  func steps(of place: Int, at time: Int64) -> [Step] {
    switch actions[place] {
    case .addUser(let user): [.addUser(Self.user(user))]
    case .suspend(let user): [.suspend(Self.user(user))]
    case .resume(let user): [.resume(Self.user(user))]
    case .delete(let user): [.delete(Self.user(user))]
    case .addParty(let party): [.addParty(Self.party(party))]
    case .revokeParty(let party): [.revokeParty(Self.party(party))]
    case .enrol(let user, let device):
      [
        .invite(activation: "a\(place)", user: Self.user(user)),
        .finish(
          activation: "a\(place)", container: "c\(place)", user: Self.user(user), device: UInt8(device)),
        .confirm(container: "c\(place)"),
      ]
    case .renew(let container):
      [
        .stage(
          container: "c\(place)", renewing: "c\(container)", activation: activation(of: container),
          user: user(of: container), device: device(of: container)),
        .confirm(container: "c\(place)"),
      ]
    case .revoke(let container): [.revoke(container: "c\(container)")]
    case .lock(let container): [.order("o\(place)", container: "c\(container)", .lock)]
    case .unlock(let container): [.order("o\(place)", container: "c\(container)", .unlock)]
    case .wipe(let container): [.order("o\(place)", container: "c\(container)", .wipe)]
    case .receipt(let order, let container): [.receipt(order: "o\(order)", container: "c\(container)")]
    case .end(let container, let isWiped): [.end(container: "c\(container)", isWiped: isWiped)]
    case .lockDevice(let user, let device):
      [.lockDevice(user: Self.user(user), device: UInt8(device), order: "o\(place)")]
    case .unlockDevice(let user, let device):
      [.unlockDevice(user: Self.user(user), device: UInt8(device), order: "o\(place)")]
    case .revokeDevice(let user, let device):
      [.revokeDevice(user: Self.user(user), device: UInt8(device))]
    case .code(let maker, let user, let counter, let address, let party):
      [
        .code(
          of: self.maker(maker), user: Self.user(user), counter: self.counter(counter, of: maker, at: time),
          from: Self.address(address), by: Self.party(party))
      ]
    case .resynchronise(let maker, let user, let counter, let address, let party):
      [
        .resynchronise(
          of: self.maker(maker), user: Self.user(user), counter: self.counter(counter, of: maker, at: time),
          from: Self.address(address), by: Self.party(party))
      ]
    case .addToken(let user): [.addToken("x\(place)", user: user.map(Self.user))]
    case .assign(let token, let user): [.assign(token: "x\(token)", user: user.map(Self.user))]
    case .disable(let token, let isDisabled): [.disable(token: "x\(token)", isDisabled)]
    case .removeToken(let token): [.removeToken("x\(token)")]
    case .verify(let token, let user, let counter, let address, let party):
      [
        .verify(
          token: "x\(token)", user: user.map(Self.user),
          counter: self.counter(counter, of: token, at: time), from: Self.address(address),
          by: user.map { _ in Self.party(party) })
      ]
    case .unlockUser(let user): [.unlock(user: Self.user(user))]
    case .ask(let user, let lifetime, let party):
      [
        .ask(
          request: "t\(place)", user: user.map(Self.user), expires: time + lifetime, by: Self.party(party))
      ]
    case .decide(let container, let request, let accepts, let isNumberRight):
      [
        .decide(
          container: "c\(container)", user: user(of: container), device: device(of: container),
          request: "t\(request)", accepts: accepts, isNumberRight: isNumberRight)
      ]
    case .withdraw(let request, let party): [.withdraw(request: "t\(request)", by: Self.party(party))]
    case .registerKey(let user, let device):
      [
        .begin(session: "s\(place)", user: Self.user(user), isRegistration: true, request: nil, by: nil),
        .register(
          session: "s\(place)", key: "k\(place)", publicKey: "k\(place)", user: Self.user(user),
          device: device.map(UInt8.init)),
      ]
    case .registerAgain(let key, let user):
      registration(at: place, key: "k\(key)", publicKey: publicKey(of: key), user: user)
    case .registerKeyOf(let container, let user):
      registration(at: place, key: "k\(place)", publicKey: "c\(container)", user: user)
    case .login(let key, let counter, let request, let party):
      [
        .begin(
          session: "s\(place)", user: user(of: key), isRegistration: false, request: request.map { "t\($0)" },
          by: party.map(Self.party)),
        .login(session: "s\(place)", user: user(of: key), key: "k\(key)", counter: counter),
      ]
    case .removeKey(let key): [.removeKey("k\(key)", user: user(of: key))]
    case .enrolApp(let user):
      [.addApp("m\(place)", user: Self.user(user)), .registerApp("m\(place)")]
    case .message(let app, let lifetime, let party):
      [
        .message(
          "g\(place)", request: "t\(place)", app: "m\(app)", user: user(of: app), expires: time + lifetime,
          by: Self.party(party))
      ]
    case .answer(let message, let approves): [.answer(message: "g\(message)", approves: approves)]
    case .removeApp(let app): [.removeApp("m\(app)")]
    case .addClient(let client): [.addClient(Self.client(client))]
    case .revokeClient(let client): [.revokeClient(Self.client(client))]
    case .backchannel(let user, let apps, let targets, let lifetime, let client):
      [
        .backchannel(
          request: "t\(place)", user: Self.user(user), expires: time + lifetime,
          messages: apps.map { Step.Sending(Self.message(of: place, to: $0), to: "m\($0)") },
          operations: targets.map { Step.Sending(Self.operation(of: place, to: $0), to: "d\($0)") },
          by: Self.client(client))
      ]
    case .answerRequest(let request, let app, let approves):
      [.answer(message: Self.message(of: request, to: app), approves: approves)]
    case .answerRequestByKey(let request, let target, let key, let counter):
      login(by: Self.operation(of: request, to: target), key, counter)
    case .addTarget(let user, let device):
      [.addTarget("d\(place)", user: Self.user(user), device: device.map(UInt8.init))]
    case .removeTarget(let target): [.removeTarget("d\(target)")]
    case .removeUAF(let user, let device): [.removeUAF(user: Self.user(user), device: UInt8(device))]
    case .token(let target, let isRegistration, let request, let party):
      [
        .token(
          session: "s\(place)", target: "d\(target)", user: user(of: target), isRegistration: isRegistration,
          request: request.map { "t\($0)" }, by: Self.party(party))
      ]
    case .registerByToken(let token, let device):
      [
        .redeem(session: "s\(token)"),
        .register(
          session: "s\(token)", key: "k\(place)", publicKey: "k\(place)", user: user(of: token),
          device: device.map(UInt8.init)),
      ]
    case .loginByToken(let token, let key, let counter): login(by: "s\(token)", key, counter)
    case .refuseToken(let token): [.refuse(session: "s\(token)")]
    // The token endpoint rejects a push client before any step.
    case .poll(_, let client) where Self.isPushed(client),
      .pollOften(_, let client) where Self.isPushed(client):
      []
    case .pollOften(let request, let client):
      [Step](repeating: .poll(request: "t\(request)", by: Self.client(client)), count: Self.pollCount)
    case .poll(let request, let client):
      [
        .poll(request: "t\(request)", by: Self.client(client)),
        .issue(request: "t\(request)", by: Self.client(client)),
      ]
    case .sweep: [.sweep]
    case .pass, .crash, .send: []
    }
  }

  /// Indicates whether a client gets its tokens by push.
  static func isPushed(_ client: Int) -> Bool { Traits.delivery(of: Self.client(client)) == .push }

  /// The number of polls by a client without a pause, more than the interval can grow.
  private static let pollCount = 14

  /// Redeems a token, and logs in.
  private func login(by session: String, _ key: Int, _ counter: UInt32) -> [Step] {
    [
      .redeem(session: session),
      .login(session: session, user: user(of: key), key: "k\(key)", counter: counter),
    ]
  }

  private func registration(at place: Int, key: String, publicKey: String, user: Int) -> [Step] {
    [
      .begin(session: "s\(place)", user: Self.user(user), isRegistration: true, request: nil, by: nil),
      .register(
        session: "s\(place)", key: key, publicKey: publicKey, user: Self.user(user), device: nil),
    ]
  }

  /// The public key of a UAF key.
  private func publicKey(of key: Int) -> String {
    if case .registerKeyOf(let container, _) = actions[key] { "c\(container)" } else { "k\(key)" }
  }
}
