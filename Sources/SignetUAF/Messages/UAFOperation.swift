package enum UAFOperation: String, Hashable, Sendable, CaseIterable {
  case registration = "Reg"
  case authentication = "Auth"
  case deregistration = "Dereg"
}
