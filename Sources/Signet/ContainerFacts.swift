import SignetJSON
import SignetVault
import SignetWire

/// What the protocol fixed about a container, as the vault keeps it beside the secrets: public, and authenticated there.
struct ContainerFacts {
  let serverMadeID: ServerMadeID
  let profile: ContainerProfile

  init(serverMadeID: ServerMadeID, profile: ContainerProfile) {
    (self.serverMadeID, self.profile) = (serverMadeID, profile)
  }

  init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object: JSONObject
    let (id, profile): (String, JSONObject)
    do throws(JSONFailure) {
      object = try JSONObject(parsing: bytes)
      (id, profile) = (try object.string("container"), try object.object("profile"))
    } catch { throw .json(error) }
    serverMadeID = try ServerMadeID(id)
    self.profile = try ContainerProfile(profile)
  }

  var bytes: [UInt8] {
    let object: JSONObject = ["container": .string(serverMadeID.text), "profile": .object(profile.json)]
    return JSONValue.object(object).bytes
  }
}

extension Container {
  /// Reads what the vault keeps.
  init(_ stored: SignetVault.Container) throws(SignetFailure) {
    do throws(WireFailure) {
      let facts = try ContainerFacts(parsing: stored.attributes.protocolFacts)
      (serverMadeID, profile) = (facts.serverMadeID, facts.profile)
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
  }
}

extension ServerURL {
  fileprivate init(stored text: String) throws(WireFailure) {
    do { try self.init(text) } catch { throw .invalid(member: "server", reason: error.description) }
  }
}
