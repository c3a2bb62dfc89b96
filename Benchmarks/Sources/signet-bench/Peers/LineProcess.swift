import Foundation

/// A program that is controlled line by line; it ends with its input.
///
/// The end is queried from the system. Foundation's `Process` detects an end by a socket that simultaneously started children
/// inherit. The end of a short one would be reported only when a long one ends.
final class LineProcess {
  private let name: String
  private let id: pid_t
  private let input: FileHandle
  private let output: FileHandle
  private var unread: [UInt8] = []

  /// A program did not start, or did not answer.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The path of this program, which is started again for work in a separate process.
  static var ownPath: String {
    get throws {
      guard let path = Bundle.main.executablePath else {
        throw LineProcess.Failure(description: "the path of this program is not known")
      }
      return path
    }
  }

  init(_ path: String, _ arguments: [String] = []) throws {
    name = URL(fileURLWithPath: path).lastPathComponent
    let (toChild, fromChild) = (try Self.makePipe(), try Self.makePipe())
    // Closed here once the child has them, so that each side sees the other's end.
    (input, output) = (toChild.writing, fromChild.reading)
    id = try Self.spawn(
      [path] + arguments, reading: toChild.reading.fileDescriptor, writing: fromChild.writing.fileDescriptor)
    withExtendedLifetime((toChild, fromChild)) {}
  }

  deinit {
    do { try input.close() } catch { kill(id, SIGTERM) }
    while waitpid(id, nil, 0) < 0 && errno == EINTR {}
  }

  /// Makes a pipe that no other child inherits, since children are started one after the other.
  private static func makePipe() throws -> (reading: FileHandle, writing: FileHandle) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
      throw Failure(description: "there is no pipe: error \(errno)")
    }
    let handles = ends.map { FileHandle(fileDescriptor: $0, closeOnDealloc: true) }
    return (handles[0], handles[1])
  }

  /// Starts a program with this process's environment and standard error, and with no signal blocked or ignored.
  private static func spawn(_ line: [String], reading: Int32, writing: Int32) throws -> pid_t {
    #if canImport(Darwin)
      var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
    #else
      var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawn_file_actions_adddup2(&actions, reading, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
      unsafe texts.map { unsafe strdup($0) } + [nil]
    }
    let arguments = unsafe copies(line)
    let environment = unsafe copies(ProcessInfo.processInfo.environment.map { "\($0)=\($1)" })
    defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
    var id: pid_t = 0
    let error = unsafe posix_spawn(&id, line[0], &actions, &attributes, arguments, environment)
    guard error == 0 else { throw Failure(description: "\(line[0]) did not start: error \(error)") }
    return id
  }

  /// Sends a line that has no answer.
  func tell(_ line: String) throws {
    try input.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Sends a line and waits for the answer.
  func ask(_ line: String) throws -> String {
    try tell(line)
    return try readLine()
  }

  func readLine() throws -> String {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread.removeFirst(end + 1)
        return line
      }
      let data = output.availableData
      guard !data.isEmpty else { throw Failure(description: "\(name) ended without an answer") }
      unread += data
    }
  }
}
