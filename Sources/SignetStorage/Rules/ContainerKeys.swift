extension ContainerRecord {
  /// Determines if a key of a new container belongs to another authenticator, of any kind and state, or two of its keys are the same.
  ///
  /// - Parameters:
  ///   - registered: Those of its keys that are in the register.
  ///   - pending: The ids of the pending containers that it replaces, whose keys are free.
  /// - Returns: `true` if a key is in use.
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
