import SignetStorage

extension StorageContract {
  /// A step that accepts something from a container, or binds something to it.
  private struct ContainerStep: Sendable {
    /// The method of ``SignetStorage/Storage``.
    let step: String
    let name: String
    /// True if it accepts while a report restricts the container.
    var isAcceptedInStepUp = true
    /// True if a lock ends the request that it answers, so that an unlock does not restore it.
    var isEndedByLock = false
    /// The event of an acceptance.
    var success = "accepted"
    /// Prepares the state before the container is locked.
    let prepare: @Sendable (Storage, _ user: UserID) async throws -> Void
    /// Runs the step for the container `c-` and the user; returns true if it accepted.
    let accepts: @Sendable (Storage, _ user: UserID) async throws -> Bool
  }

  /// The steps that accept nothing from a locked container, by the names of their methods.
  package static let lockedStepNames = Set(containerSteps.map(\.step)).union(deviceStepNames)

  /// All steps: add each new step that accepts something from a container.
  private static let containerSteps: [ContainerStep] = [
    ContainerStep(step: "stageRenewal", name: "a renewal", isAcceptedInStepUp: false) { _, _ in
    } accepts: { storage, user in
      var successor = Sample.container("n-\(user)", activation: "a-c-\(user)", user: user)
      successor.renews = "c-\(user)"
      let new = NewContainer(successor, Sample.credential(ID(of: successor.id), user: user))
      return try await storage.stageRenewal(of: "c-\(user)", by: new, limit: 3) {
        event($0 == .staged ? "accepted" : "refused")
      } == .staged
    },
    ContainerStep(step: "addPushTarget", name: "a target of pushes") { _, _ in
    } accepts: { storage, user in
      try await storage.addPushTarget(pushTarget(of: user), limit: 5, audit: event("accepted"))
    },
    ContainerStep(step: "changePushTarget", name: "another address of a target of pushes") {
      _ = try await $0.addPushTarget(pushTarget(of: $1), limit: 5, audit: event("target"))
    } accepts: { storage, user in
      try await storage.changePushTarget(
        "p-\(user)", of: "c-\(user)", name: nil, target: ("fcm", [2]), audit: event("accepted"))
    },
    ContainerStep(step: "decideTransaction", name: "a decision", success: "decision decided") {
      try await $0.addOpen("t-\($1)")
    } accepts: { storage, user in
      try await storage.decide("t-\(user)", Sample.decision(by: "c-\(user)")) == .decided
    },
    ContainerStep(step: "addInitiated", name: "what a device signs unasked") { _, _ in
    } accepts: { storage, user in
      var made = Sample.transaction("t-\(user)", user: user)
      (made.isInitiatedByDevice, made.state) = (true, .accepted)
      made.decision = Sample.decision(by: "c-\(user)")
      return try await storage.addInitiated(made, isSigned: true, limits: Sample.limits) {
        event($0 == .decided ? "accepted" : "refused")
      } == .decided
    },
    ContainerStep(
      step: "answerTransaction", name: "an answer that was carried", isAcceptedInStepUp: false,
      isEndedByLock: true
    ) {
      try await $0.addTransaction(Sample.transaction("t-\($1)", user: $1), audit: event("transaction"))
    } accepts: { storage, user in
      try await storage.answerTransaction(
        "t-\(user)", AnswerAttempt(container: "c-\(user)", time: 1100), attempts: 3,
        waits: { _ in (nil, WaitRecord(failures: 1, until: 0, expires: 0)) }
      ) { event($0 == .decided ? "accepted" : "refused") } == .decided
    },
    ContainerStep(
      step: "attemptCode", name: "a one-time password", isAcceptedInStepUp: false, success: "code accepted"
    ) { _, _ in
    } accepts: { storage, user in
      try await storage.submit(5, container: "c-\(user)", user: user) == .accepted
    },
  ]

  private static func pushTarget(of user: UserID) -> PushTargetRecord {
    PushTargetRecord(
      id: "p-\(user)", container: "c-\(user)", name: "", service: "fcm", sealedTarget: [1], created: 1)
  }

  static let containerLocks: [Check] =
    containerSteps.map { step in
      Check(
        "\(step.name): accepted of a container that is open, and of none that was locked, or ended, before"
      ) { storage in
        let revocation: @Sendable (Storage, String) async throws -> Void = { storage, user in
          try await expect(storage.revokeContainer("c-\(user)"), is: true, "the revocation")
        }
        let ends = lockSteps + [(user: "revocation", lock: revocation)]
        for user in ["open", "unlocked", "stepUp"] + ends.map(\.user) {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await storage.activate("c-\(user)", user: user)
          try await step.prepare(storage, user)
        }
        for (user, end) in ends { try await end(storage, "\(user)") }
        _ = try await storage.lockDevice(of: "unlocked")
        _ = try await storage.unlockDevice(of: "unlocked")
        try await storage.report(.stepUp, of: "c-stepUp")
        let isAccepted = ["open": true, "unlocked": !step.isEndedByLock, "stepUp": step.isAcceptedInStepUp]
        let accepted = isAccepted.filter(\.value).keys.sorted()
        for user in accepted {
          try await expect(step.accepts(storage, "\(user)"), is: true, "of a container that is \(user)")
        }
        for user in ends.map(\.user)
          + isAccepted.filter({ !$0.value }).keys.sorted().map(UserID.init(stringLiteral:))
        {
          let containers = try await storage.containers(user: user)
          let targets = try await storage.pushTargets(container: "c-\(user)")
          let request = try await storage.transaction("t-\(user)")?.state
          do {
            try await expect(step.accepts(storage, user), is: false, "after: \(user)")
          } catch StorageFailure.containerLocked {} catch StorageFailure.containerNotInUse {}
          try await expect(storage.containers(user: user), is: containers, "the containers after: \(user)")
          try await expect(
            storage.pushTargets(container: "c-\(user)"), is: targets, "the targets after: \(user)")
          try await expect(
            storage.transaction("t-\(user)")?.state, is: request, "the request after: \(user)")
        }
        let success = event(step.success).text
        try await expect(
          log(of: storage).count { $0 == success }, is: accepted.count, "events of what was accepted")
      }
    } + [
      Check("a locked container is told so, and one that has ended is not in use") { storage in
        for user in ["locked", "stepUp", "revoked"] as [UserID] {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await storage.activate("c-\(user)", user: user)
        }
        try await storage.order(.lock, "c-locked")
        try await storage.report(.stepUp, of: "c-stepUp")
        _ = try await storage.revokeContainer("c-revoked")
        for step in containerSteps where ["stageRenewal", "addPushTarget"].contains(step.step) {
          try await expect(.containerLocked, step.name) { try await step.accepts(storage, "locked") }
        }
        for step in containerSteps where step.step == "stageRenewal" {
          try await expect(.containerLocked, step.name) { try await step.accepts(storage, "stepUp") }
          try await expect(step.accepts(storage, "revoked"), is: false, "of one that has ended")
        }
        for step in containerSteps where ["addPushTarget", "changePushTarget"].contains(step.step) {
          try await expect(.containerNotInUse, step.name) { try await step.accepts(storage, "revoked") }
        }
      },
      Check("what is in use on a locked device is locked itself, and has its targets of pushes taken away") {
        storage in
        for (user, lock) in lockSteps {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await storage.activate("c-\(user)", user: user)
          _ = try await storage.addPushTarget(pushTarget(of: user), limit: 5, audit: event("target"))
          try await lock(storage, "\(user)")
          try await expect(storage.only(user).compliance, is: .locked, "the device locked by: \(user)")
          let inUse = try await storage.containers(user: user).filter(\.isInUse)
          try expect(inUse.count, is: user == "deletion" ? 0 : 1, "containers in use after: \(user)")
          try expect(inUse.allSatisfy(\.isLocked), is: true, "the container locked by: \(user)")
          let isRemoved = try await storage.removePushTarget(
            "p-\(user)", of: "c-\(user)", ifSealed: nil, audit: event("removed"))
          try expect(isRemoved, is: true, "a target after: \(user)")
        }
      },
      Check("a signed request is that of a container as it is in the step") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        try await storage.add(Sample.activation("a2"))
        _ = try await storage.finish("a2", Sample.container("c2", activation: "a2", device: 8))
        try await storage.order(.lock, "c1")
        // It is read, and the step refuses.
        try await expect(
          storage.claimRequest([1], of: "c1", expires: 500)?.compliance, is: .locked, "of a locked one")
        try await expect(.containerNotInUse, "of a pending one") {
          try await storage.claimRequest([2], of: "c2", expires: 500)
        }
        try await expect(
          storage.claimRequest([2], of: "c2", in: [.pending, .active], expires: 500)?.state, is: .pending,
          "of a pending one that may")
        _ = try await storage.revokeContainer("c1")
        for isGranting in [true, false] {
          for container in ["c1", "nothing"] as [ContainerID] {
            try await expect(.containerNotInUse, "of \(container), granting: \(isGranting)") {
              try await storage.claimRequest([3], of: container, expires: 500, isGranting: isGranting)
            }
          }
        }
        try await expect(
          storage.claimRequest([3], of: "c1", in: [.revoked], expires: 500)?.id, is: "c1",
          "the id that nobody has used")
      },
    ]
}
