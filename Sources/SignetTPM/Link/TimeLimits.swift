#if os(Linux)
  /// The time-outs of a keystore that uses a TPM.
  public struct TPMTimeLimits: Sendable, Hashable {
    /// The wait for another program that is using the TPM.
    public var turn: Duration
    /// The wait for the answer to one command; a TPM self-test may take seconds.
    public var answer: Duration
    /// The time that a connection stays open for the next call; it occupies three of the TPM's slots.
    ///
    /// If the TPM has no resource manager, other programs wait for this time.
    public var idle: Duration
    /// The maximum time that consecutive calls may use one connection while other programs wait for it.
    public var stretch: Duration

    /// Creates limits; the defaults suit hardware: 10 s, 30 s, 20 ms and 200 ms.
    public init(
      turn: Duration = .seconds(10), answer: Duration = .seconds(30), idle: Duration = .milliseconds(20),
      stretch: Duration = .milliseconds(200)
    ) {
      self.turn = turn
      self.answer = answer
      self.idle = idle
      self.stretch = stretch
    }
  }
#endif
