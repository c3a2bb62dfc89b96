import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetVault

/// The public facts about a container that the protocol has fixed; the vault stores and authenticates them in the
/// container's attributes.
struct ContainerBinding {
  let serverContainerID: ContainerID
  let profile: ContainerProfile
  /// The number of renewals before this container.
  var renewals: Int64 = 0
  /// The creation time of the first container, in seconds since 1970; `nil` if this is the first.
  var firstCreated: Int64?
  /// The server's signing key that this device trusts; `nil` for a container of an earlier version.
  var serverKey: P256.Signing.PublicKey?
  /// The keystore of the key for decisions.
  let signingKeyOrigin: KeystoreKind
  /// The keystore of the key for requests.
  let sessionKeyOrigin: KeystoreKind
  /// The 32 bytes that *confirm* sends; `nil` for a container of an earlier version.
  let confirmation: [UInt8]?

  init(
    _ receipt: ActivationReceipt, confirmation: [UInt8], profile: ContainerProfile, keys: PrivateContainerKeys
  ) {
    self.confirmation = confirmation
    serverContainerID = receipt.container
    self.profile = profile
    serverKey = receipt.serverKey
    signingKeyOrigin = keys.signing.origin
    sessionKeyOrigin = keys.session.origin
  }

  init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object: JSONObject
    let (id, profile): (String, JSONObject)
    let (signing, session): (String?, String?)
    let (serverKey, confirmation): (String?, String?)
    do throws(JSONFailure) {
      object = try JSONObject(parsing: bytes)
      (id, profile) = (try object.string("container"), try object.object("profile"))
      renewals = try object.optionalInteger("renewals") ?? 0
      firstCreated = try object.optionalInteger("firstCreated")
      serverKey = try object.optionalString("serverKey")
      confirmation = try object.optionalString("confirmation")
      signing = try object.optionalString("signingKey")
      session = try object.optionalString("sessionKey")
    } catch { throw .json(error) }
    serverContainerID = try ContainerID(id)
    self.profile = try ContainerProfile(profile)
    self.serverKey = try serverKey.map { (text) throws(WireFailure) in try Self.key(text) }
    self.confirmation = try confirmation.map { (text) throws(WireFailure) in
      do { return try Base64URL.decode(text) } catch {
        throw .invalid(member: "confirmation", reason: "is not base64url")
      }
    }
    signingKeyOrigin = try Self.origin(signing, member: "signingKey")
    sessionKeyOrigin = try Self.origin(session, member: "sessionKey")
  }

  private static func key(_ text: String) throws(WireFailure) -> P256.Signing.PublicKey {
    do { return try P256.Signing.PublicKey(x963: Base64URL.decode(text)) } catch {
      throw .invalid(member: "serverKey", reason: "is not a point of P-256")
    }
  }

  private static func origin(_ name: String?, member: String) throws(WireFailure) -> KeystoreKind {
    guard let name else { return .software }
    guard let origin = KeystoreKind(rawValue: name) else {
      throw .invalid(member: member, reason: "is not known to this version")
    }
    return origin
  }

  var bytes: [UInt8] {
    var object: JSONObject = ["container": .string(serverContainerID.text), "profile": .object(profile.json)]
    if renewals > 0 { object["renewals"] = .integer(renewals) }
    if let firstCreated { object["firstCreated"] = .integer(firstCreated) }
    if let serverKey { object["serverKey"] = .string(Base64URL.encode(serverKey.x963Representation)) }
    if let confirmation { object["confirmation"] = .string(Base64URL.encode(confirmation)) }
    if signingKeyOrigin != .software { object["signingKey"] = .string(signingKeyOrigin.rawValue) }
    if sessionKeyOrigin != .software { object["sessionKey"] = .string(sessionKeyOrigin.rawValue) }
    return JSONValue.object(object).bytes
  }
}

extension Container {
  /// Creates a container from its stored attributes.
  init(_ stored: StoredContainer) throws(SignetError) {
    do throws(WireFailure) {
      let binding = try ContainerBinding(parsing: stored.attributes.protocolParameters)
      serverContainerID = binding.serverContainerID
      profile = binding.profile
      renewals = binding.renewals
      firstCreated = binding.firstCreated ?? stored.created / 1000
      signingKeyOrigin = binding.signingKeyOrigin
      sessionKeyOrigin = binding.sessionKeyOrigin
      confirmation = binding.confirmation
      user = try UserID(stored.attributes.userID)
      server = try ServerURL(stored: stored.attributes.server)
    } catch {
      // The vault authenticates these attributes, so unreadable ones were written by a newer version.
      throw .unsupportedProfile(error)
    }
    id = stored.id
    name = stored.attributes.name
    created = stored.created / 1000
    isConfirmed = stored.state == .active
    let metadata = ContainerMetadata(parsing: stored.attributes.extra)
    unknownToServerSince = metadata[.unknownToServer]
    otherServerKeySince = metadata[.otherServerKey]
  }
}

extension ServerURL {
  fileprivate init(stored text: String) throws(WireFailure) {
    do { try self.init(text) } catch { throw .invalid(member: "server", reason: error.description) }
  }
}
