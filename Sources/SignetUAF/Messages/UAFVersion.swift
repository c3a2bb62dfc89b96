package import SignetJSON

/// A version of the UAF protocol.
package struct UAFVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let major: UInt16
  package let minor: UInt16

  package init(major: UInt16, minor: UInt16) { (self.major, self.minor) = (major, minor) }

  package static let v1_0 = UAFVersion(major: 1, minor: 0)
  package static let v1_1 = UAFVersion(major: 1, minor: 1)

  package var description: String { "\(major).\(minor)" }

  package static func < (left: UAFVersion, right: UAFVersion) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    major = try reader.number("major")
    minor = try reader.number("minor")
  }

  package var json: JSONObject { ["major": .number(major), "minor": .number(minor)] }
}
