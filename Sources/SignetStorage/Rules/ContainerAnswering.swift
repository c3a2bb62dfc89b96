extension AnswerRules {
  /// Returns `true` if one of the user's containers could answer a request.
  ///
  /// An offline container can: its device answers by digits. A locked container can only deny.
  package func canAnswer(_ request: TransactionRecord, by containers: [ContainerRecord]) -> Bool {
    containers.contains {
      $0.isInUse && (!$0.isLocked || !request.offersApproval) && container(request, $0)
    }
  }
}

extension ContainerRecord {
  /// Returns `true` if the container, or another active one of its device, is active and not locked, so that its answers remain valid.
  package func isProofInUse(among containers: [ContainerRecord]) -> Bool {
    containers.contains { $0.device == device && $0.isInUse && !$0.isLocked }
  }

  /// Returns `true` if it may have one more push target.
  package func hasRoomForTarget(beside count: Int64, limit: Int) -> Bool { state == .active && count < limit }
}
