import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetPushAuth

/// A rejection by a server of the push protocol.
struct PushRefusal {
  /// The maximum length of a stored reason, in code points.
  static let reasonLimit = 200
  /// The failure if the server has suspended or locked the user, device or container; `nil` for another rejection.
  private let lockFailure: SignetError?

  /// Indicates whether another number may be tried.
  enum NumberTries {
    case some, none
  }

  private let status: Int
  /// The server's own words; empty if it sends none.
  private let reason: String
  /// The result of a wrong number; `nil` if something else was rejected.
  let wrongNumber: NumberTries?

  /// Parses an answer with a status outside 200 to 299.
  init(_ response: HTTPResponse) {
    status = response.status
    let body: JSONObject?
    do throws(JSONFailure) { body = try JSONObject(parsing: response.body) } catch { body = nil }
    let text: String
    let problem = Problem(parsing: response.body)
    lockFailure = problem.map { SignetError.refused($0) }.flatMap { $0.isHeld ? $0 : nil }
    if let problem {
      text = problem.detail.isEmpty ? problem.code.title : problem.detail
    } else if case .string(let message)? = body?["message"] {
      text = message
    } else {
      text = ""
    }
    reason = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.reasonLimit)))
    wrongNumber = status == 400 ? Self.wrongNumber(body) : nil
  }

  /// A Signet server sends the remaining attempts; a server without details sends status 400 for wrong numbers only.
  private static func wrongNumber(_ body: JSONObject?) -> NumberTries? {
    guard case .object(let detail)? = body?["detail"] else { return .some }
    guard let remaining = detail["remaining"] else { return nil }
    return remaining == 0 ? NumberTries.none : .some
  }

  /// Indicates whether the message has ended at the server.
  var isEnd: Bool { status == 400 && reason == PushAuthSubmission.endedReason }

  /// The failure for a query of pending messages.
  var failureOfWaiting: SignetError {
    if status == 400, reason == PushAuthSubmission.refusedReason { return .pushAuth(.notEnrolled) }
    return lockFailure ?? failure
  }

  /// The failure for any other request.
  var failure: SignetError { .pushAuthRefused(status: status, reason: reason) }
}
