import BusFixture
import SignetLinux
import SignetVault
import Testing

@Suite(
  "Changes seen in the identity of an enrolled set", .timeLimit(.minutes(10)),
  .enabled(if: FprintFixture.isPossible, "polkitd and fprintd want to be started by root"))
struct EnrolledSetTests {
  @Test("adding a finger changes the identity; removing it restores the earlier one")
  func addedAndRemoved() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let one = try await fprint.gate().state()
    #expect(try await fprint.gate().state() == one)
    try await fprint.enrol("left-thumb", as: "left")
    let two = try await fprint.gate().state()
    #expect(two != one)
    try await fprint.delete("left-thumb")
    #expect(try await fprint.gate().state() == one)
    try await fprint.delete("right-index-finger")
    #expect(try await fprint.gate().state() == .notEnrolled)
  }

  @Test("the match returns the enrolled set at the time of the match")
  func changedBetween() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let before = try await fprint.gate().state()
    try await fprint.enrol("left-thumb", as: "left")
    fprint.next(.finger("left"))
    let matched = try await fprint.gate().match("Sign in")
    #expect(.ready(matched) != before)
  }

  /// The limit in docs/threat-model.md: fprintd does not distinguish two prints of the same name.
  @Test("another finger under the same name is not detected")
  func replacedUnderTheSameName() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let before = try await fprint.gate().state()
    try await fprint.delete("right-index-finger")
    try await fprint.enrol("right-index-finger", as: "somebody else's")
    #expect(try await fprint.gate().state() == before)
  }
}

@Suite("Input to the identity of an enrolled set")
struct EnrolledSetIdentityTests {
  @Test("account, reader and fingers identify a set; the order of fingers does not")
  func parts() {
    let set = EnrolledSet(user: 1000, reader: "Virtual", fingers: ["left-thumb", "right-thumb"])
    #expect(EnrolledSet(user: 1000, reader: "Virtual", fingers: ["right-thumb", "left-thumb"]) == set)
    let others = [
      EnrolledSet(user: 1001, reader: "Virtual", fingers: ["left-thumb", "right-thumb"]),
      EnrolledSet(user: 1000, reader: "Virtual 2", fingers: ["left-thumb", "right-thumb"]),
      EnrolledSet(user: 1000, reader: "Virtual", fingers: ["left-thumb"]),
      // Concatenated names must not be ambiguous.
      EnrolledSet(user: 1000, reader: "Virtualleft-thumb", fingers: ["right-thumb"]),
      EnrolledSet(user: 1000, reader: "Virtual", fingers: ["left-thumbright-thumb"]),
    ]
    #expect(Set(others + [set]).count == 6)
  }
}
