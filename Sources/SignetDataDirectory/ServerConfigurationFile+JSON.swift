package import SignetJSON
import SignetServer

extension ServerConfigurationFile {
  package init(parsing bytes: [UInt8]) throws(Refusal) {
    do {
      let object = try JSONObject(parsing: bytes)
      // The format is checked first, because members of a newer format are unknown here.
      let format = try object.integer(Self.formatSetting.name)
      guard (1...Self.format).contains(format) else { throw Refusal.tooNew(format) }
      self = try Self.schema.read(object)
    } catch let refusal as Refusal {
      throw refusal
    } catch let failure as JSONFailure {
      throw .reason(failure.description(in: bytes))
    } catch {
      throw .reason("\(error)")  // each error names the wrong member and the reason
    }
  }

  /// The settings in the form of `server.json`.
  package var json: JSONObject { Self.schema.json(of: self) }
}
