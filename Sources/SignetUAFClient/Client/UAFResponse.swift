/// A client's response to a server's request.
public struct UAFResponse: Hashable, Sendable {
  /// The JSON text of the list with the response: `uafResponse`, or `uafProtocolMessage`.
  public let message: String
  /// The keys that were made or used.
  public let keys: [UAFKey]
}
