extension ContainerRecord {
  /// Whether a new container cannot have its keys: one of them belongs to another authenticator, of whatever kind and state, or has two uses.
  ///
  /// - Parameters:
  ///   - registered: Those of its keys that the register knows.
  ///   - pending: The ids of the pending containers that it replaces, whose keys are free.
  /// - Returns: Whether one is taken.
  package func hasTakenKey(among registered: [RegisteredPublicKey], replacing pending: [ContainerID]) -> Bool
  {
    let keys = keyDigests
    return Set(keys).count < keys.count
      || registered.contains { key in
        guard case .held(let holder) = key, holder.kind == .container else { return true }
        return !pending.contains(ID(unchecked: holder.authenticator))
      }
  }
}
