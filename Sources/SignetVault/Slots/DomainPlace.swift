/// Where a protection domain is: which vault, container and name.
package struct DomainPlace: Hashable {
  package var vault: Identifier
  var container: ContainerID
  package var domain: String

  package init(vault: Identifier, container: ContainerID, domain: String) {
    self.vault = vault
    self.container = container
    self.domain = domain
  }

  /// Whether a text may name a domain or a record: 1 to 64 visible ASCII characters.
  ///
  /// Names are chosen by programs; beyond ASCII, texts that Swift calls equal can have different bytes.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// What the hardware secret of a slot is for.
  package func hardwareContext(_ kind: SlotKind) -> [UInt8] {
    var context = CanonicalBytes("signet slot hardware secret v1")
    context.append(vault.bytes)
    context.append(container.bytes)
    context.append(domain)
    context.append(Int64(kind.rawValue))
    return context.bytes
  }

  /// What a record of the domain is bound to, the version of the format included.
  package func recordContext(_ name: String) -> [UInt8] {
    var context = CanonicalBytes("signet record v1")
    context.append(vault.bytes)
    context.append(container.bytes)
    context.append(domain)
    context.append(name)
    return context.bytes
  }
}
