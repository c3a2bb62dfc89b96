import SignetCrypto
import SignetJSON

/// The body of *confirm*, of an activation and of a renewal.
public struct ActivationConfirm: Sendable {
  /// What the receipt's ``SealedConfirmation`` holds, 32 bytes; `nil` where the device does not have it.
  public let confirmation: [UInt8]?

  /// Puts the body together.
  public init(confirmation: [UInt8]?) { self.confirmation = confirmation }

  /// Reads a body.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    confirmation =
      object.contains("confirmation")
      ? try object.wireBytes("confirmation", count: SealedConfirmation.byteCount) : nil
  }

  /// The body as sent.
  public var bytes: [UInt8] {
    var object = JSONObject()
    if let confirmation { object["confirmation"] = .string(Base64URL.encode(confirmation)) }
    return JSONValue.object(object).bytes
  }
}
