import AccountModel

/// A step as it was tried once, and what the client heard.
struct Attempt: Hashable, Sendable {
  /// Names the attempt in the audit log.
  let name: String
  let step: Step
  /// The time that the server went by.
  let time: Int64
  /// When it began, and when the client heard, in moments of the run; no two have the same.
  let began: Int
  var ended: Int?
  /// What the client heard; `nil` where the answer was lost.
  var answer: String?
  /// What the ID token says that was made before the step; `nil` where none was.
  var claims: String?

  /// What the client heard of how its request stands: who polls too often hears that too.
  var heard: String? {
    if case .poll = step, let answer, answer.hasPrefix("slow down") { return "pending" }
    return answer
  }
}
