#if os(Linux)
  /// How long a keystore waits for a TPM.
  public struct TPMTimeLimits: Sendable, Hashable {
    /// For another program that is using the TPM.
    public var turn: Duration
    /// For the answer to one command; a TPM may test itself for seconds.
    public var answer: Duration
    /// For how long a connection is kept for the next call, and with it three of the TPM's places.
    ///
    /// Where the TPM has no resource manager, other programs wait for as long.
    public var idle: Duration
    /// For how long calls that follow each other at once may use one connection, where other programs wait for it.
    public var stretch: Duration

    /// Limits that are enough for hardware: 10 s, 30 s, 20 ms and 200 ms.
    public init(
      turn: Duration = .seconds(10), answer: Duration = .seconds(30), idle: Duration = .milliseconds(20),
      stretch: Duration = .milliseconds(200)
    ) {
      (self.turn, self.answer, self.idle, self.stretch) = (turn, answer, idle, stretch)
    }
  }
#endif
