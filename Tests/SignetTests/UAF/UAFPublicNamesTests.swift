import SignetUAFClient
import Testing

/// The names that an app can use with `import SignetUAFClient` alone: this file imports no other module of ours.
@Suite struct UAFPublicNamesTests {
  @Test("channel bindings and client errors have public names")
  func uaf() {
    let binding = UAFChannelBinding(serverEndPoint: "AAEC")
    #expect(binding != .none && binding.tlsUnique == nil)
    #expect(UAFClientError.userCancelled.rawValue == 3)
  }

  @Test("the SDK comes with the UAF client")
  func theSDK() {
    let connection = ConnectionConfiguration()
    #expect(connection.timeoutSeconds == 30)
  }
}
