public import SignetJSON

/// The user's alleged circumstances when the transaction was started, as the relying party saw them.
public struct TransactionContext: Hashable, Sendable {
  /// The user's network address, such as `192.0.2.7`.
  public var address: String?
  /// The user's browser or app.
  public var browser: String?
  /// The user's location, such as a town.
  public var place: String?

  /// Creates a context.
  public init(address: String? = nil, browser: String? = nil, place: String? = nil) {
    self.address = address
    self.browser = browser
    self.place = place
  }

  /// Parses a context; every member is optional.
  ///
  /// - Throws: ``WireFailure`` for an unknown member or one that is no string.
  public init(_ object: JSONObject) throws(WireFailure) {
    try object.refuseMembers(except: ["address", "browser", "place"])
    address = try Wire.reading(object.optionalString("address"))
    browser = try Wire.reading(object.optionalString("browser"))
    place = try Wire.reading(object.optionalString("place"))
  }

  /// True if no member is present.
  var isEmpty: Bool { address == nil && browser == nil && place == nil }

  func check() throws(WireFailure) {
    for (name, text) in [("address", address), ("browser", browser), ("place", place)] {
      if let text { try DisplayText.checkLine(text, member: name, limit: 256) }
    }
  }

  var json: JSONObject {
    var object = JSONObject()
    if let address { object["address"] = .string(address) }
    if let browser { object["browser"] = .string(browser) }
    if let place { object["place"] = .string(place) }
    return object
  }
}
