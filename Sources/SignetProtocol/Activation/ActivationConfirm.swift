import SignetCrypto
import SignetJSON

/// The body of *confirm*, for an activation and for a renewal.
public struct ActivationConfirm: Sendable {
  /// The decrypted content of the receipt's ``SealedConfirmation``, 32 bytes; `nil` if the device does not have it.
  public let confirmation: [UInt8]?

  /// Creates a body.
  public init(confirmation: [UInt8]?) { self.confirmation = confirmation }

  /// Parses a body.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON or a confirmation of another length.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    confirmation =
      object.contains("confirmation")
      ? try object.wireBytes("confirmation", count: SealedConfirmation.byteCount) : nil
  }

  /// The body as JSON.
  public var bytes: [UInt8] {
    var object = JSONObject()
    if let confirmation { object["confirmation"] = .string(Base64URL.encode(confirmation)) }
    return JSONValue.object(object).bytes
  }
}
