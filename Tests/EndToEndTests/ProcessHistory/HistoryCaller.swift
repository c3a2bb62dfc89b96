import Foundation
import Signet
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetPushAuth
import Testing

/// A client with an API key that speaks to one of the processes.
struct HistoryCaller: Sendable {
  private let origin: String
  private let domain: String
  private let key: String
  private let transport: CurlTransport

  init(_ pair: ProcessPair, _ index: Int, _ keyFile: String) throws {
    origin = "https://127.0.0.1:\(pair.first.port)"
    domain = "https://\(pair.first.url)/v1"
    key = String(try String(contentsOfFile: keyFile, encoding: .utf8).prefix { $0 != "\n" })
    transport = try CurlTransport(pair.connection(index))
  }

  /// Sends a request; returns `nil` if no answer came, or one that asks to retry later.
  private func send(_ request: HTTPRequest) async -> HTTPResponse? {
    do {
      let response = try await transport.send(request)
      return response.status >= 500 ? nil : response
    } catch { return nil }
  }

  /// Sends a request to the API of operators and relying parties; returns `nil` as ``send(_:)`` does.
  func send(_ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil) async throws -> HTTPResponse? {
    var headers = [("Authorization", "Bearer \(key)")]
    if body != nil { headers.append(("Content-Type", "application/json")) }
    return await send(
      HTTPRequest(method: method, url: "\(domain)/\(path)", headers: headers, body: body?.bytes ?? []))
  }

  func call(
    _ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil
  ) async throws -> ProcessHistory.Answer {
    guard let response = try await send(method, path, body) else { return .lost }
    return (200...299).contains(response.status) ? .accepted : .refused
  }

  /// Repeats a read until it is answered; returns `nil` if the object does not exist.
  func look(_ path: String) async throws -> JSONObject? {
    for _ in 0..<200 {
      guard let response = try await send(.get, path) else {
        try await Task.sleep(for: .milliseconds(20))
        continue
      }
      if response.status == 404 { return nil }
      try #require(response.status == 200, "\(path): \(response.status)")
      return try JSONObject(parsing: response.body)
    }
    throw ProcessHistory.NobodyAnswers()
  }

  /// Sends a UAF message; returns `nil` if no answer came, or one that leaves the outcome open.
  ///
  /// - Returns: The protocol's status, and the request if there is one.
  func uaf(_ path: String, _ body: JSONObject) async throws -> (status: Int64, request: [UInt8])? {
    let headers = [
      ("Authorization", "Bearer \(key)"), ("Content-Type", "application/fido+uaf;charset=UTF-8"),
      ("Accept", "application/fido+uaf"),
    ]
    let request = HTTPRequest(
      method: .post, url: "\(origin)/nevisfido/uaf/1.1/\(path)", headers: headers, body: body.bytes)
    guard let response = await send(request) else { return nil }
    guard response.status == 200 else { return (Int64(response.status), []) }
    let answer = try JSONObject(parsing: response.body)
    let status = try answer.integer("statusCode")
    guard status != 1500 else { return nil }
    return (status, Array((try answer.optionalString("uafRequest") ?? "").utf8))
  }

  /// Sends the request of an authenticator app.
  func call(_ request: PushAuthRequest) async -> ProcessHistory.Answer {
    let response = await send(
      HTTPRequest(
        // The transport writes cookies itself, and no load balancer reads one here.
        method: .post, url: request.url, headers: request.headers.filter { $0.name != "Cookie" },
        body: request.body.bytes))
    guard let response else { return .lost }
    return response.status == 200 ? .accepted : .refused
  }
}

extension SignetError {
  /// Indicates whether the failure leaves open if the server carried out the request.
  var mayHaveBeenDone: Bool {
    switch self {
    case .transport: true
    case .refused(let problem): problem.code == .busy || problem.code == .serverFailure
    case .unexpectedAnswer(let status): status >= 500
    default: false
    }
  }
}
