public import SignetJSON

/// Where the user is said to be while asking for what a transaction is about: as the relying party saw it.
public struct TransactionContext: Hashable, Sendable {
  /// The network address, such as `192.0.2.7`.
  public var address: String?
  /// The browser or the app.
  public var browser: String?
  /// The place, such as a town.
  public var place: String?

  /// Describes a context.
  public init(address: String? = nil, browser: String? = nil, place: String? = nil) {
    (self.address, self.browser, self.place) = (address, browser, place)
  }

  /// Reads a context; every member is optional.
  ///
  /// - Throws: ``WireFailure``.
  public init(_ object: JSONObject) throws(WireFailure) {
    try object.refuseMembers(except: ["address", "browser", "place"])
    address = try Wire.reading(object.optionalString("address"))
    browser = try Wire.reading(object.optionalString("browser"))
    place = try Wire.reading(object.optionalString("place"))
  }

  /// Whether nothing is said.
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
