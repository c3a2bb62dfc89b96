package import SignetOATH
package import SignetStorage

package enum OTPOperation: Hashable, Sendable {
  /// Authenticates the user with an active credential.
  case use(String)
  /// Proves that an imported token is the one that the user holds.
  case verify(String)
  /// Resynchronizes and unlocks a credential with two consecutive codes.
  case resynchronise(String, String)
}

/// Verifies one-time passwords: a pure function of the stored state, the codes and the time.
package struct OTPVerifier: Sendable {
  let rules: OTPSettings
  /// The number of rejected attempts in a row that locks a credential.
  let limit: Int
  /// The current time, in seconds since 1970.
  package let time: Int64
  /// Decrypts a credential's secret; returns `nil` if that fails.
  let generator: @Sendable (CredentialRecord) -> HOTP?

  package init(
    rules: OTPSettings, limit: Int, time: Int64, generator: @escaping @Sendable (CredentialRecord) -> HOTP?
  ) {
    self.rules = rules
    self.limit = limit
    self.time = time
    self.generator = generator
  }

  package struct Verification: Hashable, Sendable {
    package var outcome: CodeOutcome
    /// The credential that was used, with its new state.
    package var used: CredentialRecord?
    /// The credentials to store: the one that was used, or those that did not match.
    package var changed: [CredentialRecord] = []
    /// The new wait of the address.
    package var wait: WaitRecord?
    /// True if the codes are right but were used before.
    package var isReplay = false
    /// True if the codes were not checked because the user is not active.
    package var isUserInactive = false

    package init(
      outcome: CodeOutcome, used: CredentialRecord? = nil, changed: [CredentialRecord] = [],
      wait: WaitRecord? = nil, isReplay: Bool = false
    ) {
      self.outcome = outcome
      self.used = used
      self.changed = changed
      self.wait = wait
      self.isReplay = isReplay
    }
  }

  /// Verifies the codes of an operation.
  ///
  /// An attempt during a wait, or only on locked credentials, is not checked. Its result does not depend on the codes, and
  /// no failure is counted.
  ///
  /// - Parameters:
  ///   - operation: The operation, with the codes.
  ///   - snapshot: The stored state.
  /// - Returns: The outcome and the changes.
  package func verify(_ operation: OTPOperation, _ snapshot: OTPSnapshot) -> Verification {
    let wait = snapshot.wait.flatMap { $0.expires > time ? $0 : nil }
    if snapshot.isUserInactive {
      var result = Verification(outcome: .refused, wait: wait)
      result.isUserInactive = true
      return result
    }
    if let seconds = rules.remaining(wait, at: time) {
      return Verification(outcome: .waiting(seconds: seconds), wait: wait)
    }
    let eligible = snapshot.credentials.filter { isEligible($0, for: operation) }
    let tried = eligible.filter { isOpen($0, to: operation) }
    guard eligible.isEmpty || !tried.isEmpty else { return Verification(outcome: .locked, wait: wait) }

    var result = Verification(outcome: .refused)
    for credential in tried {
      // All credentials are tried, so the time does not depend on which one matches.
      guard let match = match(operation, credential) else { continue }
      guard match > credential.lastCounter else {
        result.isReplay = true
        continue
      }
      if result.used == nil { result.used = advanced(credential, to: match, operation) }
    }
    if let used = result.used {
      result.outcome = .accepted
      result.changed = [used]
      return result
    }
    result.changed = tried.filter { $0.failures < limit }.map {
      var credential = $0
      credential.failures += 1
      return credential
    }
    result.wait = rules.next(wait, at: time)
    return result
  }

  /// Returns true if a credential's state allows the operation.
  private func isEligible(_ credential: CredentialRecord, for operation: OTPOperation) -> Bool {
    switch operation {
    case .use: credential.state == .active
    case .verify: credential.state == .pending && credential.serial != nil
    // A pending token with a serial number is included: two codes prove more than the one that verifies it.
    case .resynchronise:
      credential.state == .active || credential.state == .pending && credential.serial != nil
    }
  }

  /// Returns true if a credential's failures allow an operation.
  ///
  /// Two consecutive codes unlock a credential, since an attacker cannot guess both. This does not hold for a credential
  /// with a silent lock: there each guessed password produces any number of codes.
  private func isOpen(_ credential: CredentialRecord, to operation: OTPOperation) -> Bool {
    if credential.failures < limit { return true }
    guard case .resynchronise = operation else { return false }
    return !credential.isSilent
  }

  // MARK: Counters

  /// Returns the counter that the codes use up; `nil` if they do not match this credential.
  private func match(_ operation: OTPOperation, _ credential: CredentialRecord) -> Int64? {
    guard let key = generator(credential) else { return nil }
    switch operation {
    case .use(let code), .verify(let code):
      guard let range = window(of: credential) else { return nil }
      return key.counter(matching: code, in: range).map { Int64(clamping: $0) }
    case .resynchronise(let first, let second):
      guard let range = resyncWindow(of: credential) else { return nil }
      return key.counter(matching: first, then: second, in: range).map { Int64(clamping: $0) }
    }
  }

  /// Returns the time step of the server's clock; negative before the first step.
  private func step(of credential: CredentialRecord) -> Int64 {
    let (elapsed, period) = (time - credential.start, Int64(max(1, credential.period)))
    return elapsed >= 0 ? elapsed / period : -((period - 1 - elapsed) / period)
  }

  private func window(of credential: CredentialRecord) -> ClosedRange<UInt64>? {
    switch credential.kind {
    case .hotp:
      return range(credential.lastCounter + 1, credential.lastCounter + 1 + Int64(rules.counterLookAhead))
    case .totp:
      let expected = step(of: credential) + credential.drift
      return range(expected - Int64(rules.lookBack), expected + Int64(rules.lookAhead))
    }
  }

  /// Returns the range for the first of two codes.
  private func resyncWindow(of credential: CredentialRecord) -> ClosedRange<UInt64>? {
    let (next, width) = (credential.lastCounter + 1, Int64(rules.resyncWindow))
    switch credential.kind {
    case .hotp: return range(next, next + width)
    case .totp:
      let step = step(of: credential)
      return range(max(next, step - width), step + width)
    }
  }

  private func range(_ first: Int64, _ last: Int64) -> ClosedRange<UInt64>? {
    let first = max(0, first)
    return first <= last ? UInt64(first)...UInt64(last) : nil  // no range before the first step
  }

  private func advanced(
    _ credential: CredentialRecord, to counter: Int64, _ operation: OTPOperation
  ) -> CredentialRecord {
    var credential = credential
    credential.lastCounter = counter
    credential.failures = 0
    credential.lastUsed = time
    credential.state = .active
    guard credential.kind == .totp else { return credential }
    let offset = counter - step(of: credential)
    if case .resynchronise = operation {
      credential.drift = offset  // within the window of two codes
    } else {
      // Two codes may have set a larger drift than single codes may learn. Single codes keep it but do not enlarge it.
      let bound = max(Int64(rules.driftLimit), abs(credential.drift))
      credential.drift = min(max(offset, -bound), bound)
    }
    return credential
  }
}

extension HOTP {
  /// Returns the counter of the second of two consecutive codes; `nil` if they do not match.
  ///
  /// All candidates for the first code are compared, whichever matches; the highest match counts.
  func counter(matching first: String, then second: String, in candidates: ClosedRange<UInt64>) -> UInt64? {
    guard let first = number(first), let second = number(second) else { return nil }
    var found: UInt64?
    var current = value(at: candidates.lowerBound)
    for candidate in candidates {
      let next = value(at: candidate + 1)
      if (current ^ first) | (next ^ second) == 0 { found = candidate + 1 }
      current = next
    }
    return found
  }

  private func number(_ code: String) -> UInt32? {
    guard code.utf8.count == digits, code.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return UInt32(code)
  }
}
