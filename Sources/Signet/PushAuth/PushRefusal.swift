import SignetJSON
import SignetPushAuth
import SignetTransport
import SignetWire

/// What a server of the push protocol says that does not accept something.
struct PushRefusal {
  /// The most code points of a reason that are kept.
  static let reasonLimit = 200
  /// Why the server lets nobody go on for now; `nil` where something else is refused.
  private let hold: SignetFailure?

  /// Whether another number may be tried.
  enum NumberTries {
    case some, none
  }

  private let status: Int
  /// In the server's words; empty where it has none.
  private let reason: String
  /// What is said of a number that is another one; `nil` where something else is refused.
  let wrongNumber: NumberTries?

  /// Reads an answer of another status than 200 to 299.
  init(_ response: HTTPResponse) {
    status = response.status
    let body: JSONObject?
    do throws(JSONFailure) { body = try JSONObject(parsing: response.body) } catch { body = nil }
    let said: String
    let problem = Problem(parsing: response.body)
    hold = problem.map { SignetFailure.refused($0) }.flatMap { $0.isHeld ? $0 : nil }
    if let problem {
      said = problem.detail.isEmpty ? problem.code.title : problem.detail
    } else if case .string(let message)? = body?["message"] {
      said = message
    } else {
      said = ""
    }
    reason = String(String.UnicodeScalarView(said.unicodeScalars.prefix(Self.reasonLimit)))
    wrongNumber = status == 400 ? Self.wrongNumber(body) : nil
  }

  /// Servers of ours say how many more may be tried; those that give no details refuse numbers for nothing else.
  private static func wrongNumber(_ body: JSONObject?) -> NumberTries? {
    guard case .object(let detail)? = body?["detail"] else { return .some }
    guard let remaining = detail["remaining"] else { return nil }
    return remaining == 0 ? NumberTries.none : .some
  }

  /// Whether the message waits no more.
  var isEnd: Bool { status == 400 && reason == PushAuthSubmission.endedReason }

  /// The failure that it is where it was asked what waits.
  var failureOfWaiting: SignetFailure {
    if status == 400, reason == PushAuthSubmission.refusedReason { return .pushAuth(.notEnrolled) }
    return hold ?? failure
  }

  /// The failure that it is, of whatever was asked.
  var failure: SignetFailure { .pushAuthRefused(status: status, reason: reason) }
}
