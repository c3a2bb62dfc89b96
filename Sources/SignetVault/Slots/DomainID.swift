/// The identity of a protection domain: vault, container and name.
package struct DomainID: Hashable {
  package var vault: Identifier
  var container: LocalContainerID
  package var domain: String

  package init(vault: Identifier, container: LocalContainerID, domain: String) {
    self.vault = vault
    self.container = container
    self.domain = domain
  }

  /// Returns true if a text is a valid name of a domain or record: 1 to 64 visible ASCII characters.
  ///
  /// Programs choose names. Outside of ASCII, texts that Swift calls equal can have different bytes.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The context that the keystore binds a slot's hardware secret to.
  package func hardwareContext(_ kind: SlotKind) -> [UInt8] {
    var context = CanonicalBytes("signet slot hardware secret v1")
    context.append(vault.bytes)
    context.append(container.bytes)
    context.append(domain)
    context.append(Int64(kind.rawValue))
    return context.bytes
  }

  /// The context that a record is bound to; it includes the format version.
  package func recordContext(_ name: String) -> [UInt8] {
    var context = CanonicalBytes("signet record v1")
    context.append(vault.bytes)
    context.append(container.bytes)
    context.append(domain)
    context.append(name)
    return context.bytes
  }
}
