import SignetJSON

/// What a device says that asks its server what waits for it.
public struct PushAuthWaiting: Hashable, Sendable {
  /// When it is asked, in seconds since 1970.
  public let time: Int64
  /// What the server has called the list that the device has; `nil` where it has none.
  public let known: String?
  /// How many seconds the answer may take, until there is another list.
  public let seconds: Int64

  /// Names all parts.
  public init(time: Int64, known: String?, seconds: Int64) {
    (self.time, self.known, self.seconds) = (time, known, seconds)
  }

  var json: JSONObject {
    var object: JSONObject = ["time": .integer(time), "seconds": .integer(seconds)]
    object["known"] = known.map { .string($0) }
    return object
  }

  init(_ object: JSONObject) throws(PushAuthFailure) {
    do throws(JSONFailure) {
      (time, seconds) = (try object.integer("time"), try object.integer("seconds"))
      known = try object.optionalString("known")
    } catch { throw .invalid("waiting", reason: "has other members") }
  }
}
