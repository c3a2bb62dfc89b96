import LibFuzzer
import SignetCrypto

// The parser is not public: what a row holds is no one's business but the vault's.
@testable import SignetVault

@main struct FuzzVault {
  static func main() { LibFuzzer.run(check) }

  static func check(_ input: [UInt8]) {
    let header: SlotHeader
    do throws(SlotHeader.Refusal) {
      header = try SlotHeader(parsing: input, floor: .minimum)
    } catch {
      return
    }
    require(header.bytes == input, "a header has one form")
    if case .password(let cost, _) = header.opening {
      require(PasswordCost.accepts(cost, floor: .minimum), "no cost is too low or too high")
    }
    require(DomainPlace.isName(header.place.domain), "a domain's name is one")
  }
}
