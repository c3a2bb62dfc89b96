import SignetJSON
import SignetVault
import SignetWire

/// What the protocol fixed about a container, as the vault keeps it beside the secrets: public, and authenticated there.
struct ContainerFacts {
  let serverMadeID: ServerMadeID
  let profile: ContainerProfile
  /// How many renewals led to this container.
  var renewals: Int64 = 0
  /// When the first of them was made, in seconds since 1970; `nil` where this is the first.
  var firstCreated: Int64?
  /// Where the key that signs decisions is.
  let signingKeyOrigin: KeystoreKind
  /// Where the key that signs requests is.
  let sessionKeyOrigin: KeystoreKind

  init(serverMadeID: ServerMadeID, profile: ContainerProfile, keys: PrivateContainerKeys) {
    (self.serverMadeID, self.profile) = (serverMadeID, profile)
    (signingKeyOrigin, sessionKeyOrigin) = (keys.signing.origin, keys.session.origin)
  }

  init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object: JSONObject
    let (id, profile): (String, JSONObject)
    let (signing, session): (String?, String?)
    do throws(JSONFailure) {
      object = try JSONObject(parsing: bytes)
      (id, profile) = (try object.string("container"), try object.object("profile"))
      renewals = try object.optionalInteger("renewals") ?? 0
      firstCreated = try object.optionalInteger("firstCreated")
      signing = try object.optionalString("signingKey")
      session = try object.optionalString("sessionKey")
    } catch { throw .json(error) }
    serverMadeID = try ServerMadeID(id)
    self.profile = try ContainerProfile(profile)
    signingKeyOrigin = try Self.origin(signing, member: "signingKey")
    sessionKeyOrigin = try Self.origin(session, member: "sessionKey")
  }

  private static func origin(_ name: String?, member: String) throws(WireFailure) -> KeystoreKind {
    guard let name else { return .software }
    guard let origin = KeystoreKind(rawValue: name) else {
      throw .invalid(member: member, reason: "is none that this version knows")
    }
    return origin
  }

  var bytes: [UInt8] {
    var object: JSONObject = ["container": .string(serverMadeID.text), "profile": .object(profile.json)]
    if renewals > 0 { object["renewals"] = .integer(renewals) }
    if let firstCreated { object["firstCreated"] = .integer(firstCreated) }
    if signingKeyOrigin != .software { object["signingKey"] = .string(signingKeyOrigin.rawValue) }
    if sessionKeyOrigin != .software { object["sessionKey"] = .string(sessionKeyOrigin.rawValue) }
    return JSONValue.object(object).bytes
  }
}

extension Container {
  /// Reads what the vault keeps.
  init(_ stored: SignetVault.Container) throws(SignetFailure) {
    do throws(WireFailure) {
      let facts = try ContainerFacts(parsing: stored.attributes.protocolFacts)
      (serverMadeID, profile) = (facts.serverMadeID, facts.profile)
      (renewals, firstCreated) = (facts.renewals, facts.firstCreated ?? stored.created / 1000)
      (signingKeyOrigin, sessionKeyOrigin) = (facts.signingKeyOrigin, facts.sessionKeyOrigin)
      user = try UserID(stored.attributes.userID)
      server = try ServerURL(stored: stored.attributes.server)
    } catch {
      // The vault authenticates all of it, so only a newer version writes what this one can't read.
      throw .unsupportedProfile(error)
    }
    id = stored.id
    name = stored.attributes.name
    created = stored.created / 1000
    isConfirmed = stored.state == .active
    unknownToServerSince = ContainerNotes(parsing: stored.attributes.extra).unknownToServerSince
  }
}

extension ServerURL {
  fileprivate init(stored text: String) throws(WireFailure) {
    do { try self.init(text) } catch { throw .invalid(member: "server", reason: error.description) }
  }
}
