extension AnswerRules {
  /// Whether one of the user's containers could answer a request.
  ///
  /// Being offline is no reason why not: a device answers by digits. Being locked is one: nothing is accepted of the device until somebody
  /// unlocks it, while it can say no.
  package func canAnswer(_ request: TransactionRecord, by containers: [ContainerRecord]) -> Bool {
    containers.contains {
      $0.isInUse && (!$0.isLocked || !request.offersApproval) && container(request, $0)
    }
  }
}

extension ContainerRecord {
  /// Whether what it has answered is in use: itself, or another container of its device, which is not locked.
  package func isProofInUse(among containers: [ContainerRecord]) -> Bool {
    containers.contains { $0.device == device && $0.isInUse && !$0.isLocked }
  }

  /// Whether it may have one more target of pushes.
  package func hasRoomForTarget(beside count: Int64, limit: Int) -> Bool { state == .active && count < limit }
}
