import AccountModel

/// One attempt at a step, with the client's observation.
struct Attempt: Hashable, Sendable {
  /// The name of the attempt in the audit log.
  let name: String
  let step: Step
  /// The server's time.
  let time: Int64
  /// The moments of the beginning and of the answer in the run; no two are equal.
  let began: Int
  var ended: Int?
  /// The client's answer; `nil` if it was lost.
  var answer: String?
  /// The claims of the ID token made before the step; `nil` if none was made.
  var claims: String?

  /// The answer about the state of a request; a `slow down` also means that it is pending.
  var heard: String? {
    if case .poll = step, let answer, answer.hasPrefix("slow down") { return "pending" }
    return answer
  }
}
