import SignetJSON

/// The parameters of a device's poll for messages.
public struct PushAuthWaiting: Hashable, Sendable {
  /// The time of the poll, in seconds since 1970.
  public let time: Int64
  /// The server's id of the list that the device has; `nil` if it has none.
  public let known: String?
  /// The longest time that the server may wait for a new list, in seconds.
  public let seconds: Int64

  /// Creates the parameters.
  public init(time: Int64, known: String?, seconds: Int64) {
    self.time = time
    self.known = known
    self.seconds = seconds
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
