#if os(Linux)
  /// How long a keystore waits for a TPM.
  public struct TPMTimeLimits: Sendable, Hashable {
    /// For another program that is using the TPM.
    public var turn: Duration
    /// For the answer to one command; a TPM may test itself for seconds.
    public var answer: Duration

    /// Limits that are enough for hardware: 10 s and 30 s.
    public init(turn: Duration = .seconds(10), answer: Duration = .seconds(30)) {
      (self.turn, self.answer) = (turn, answer)
    }
  }
#endif
