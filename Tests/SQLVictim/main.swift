import Foundation
import SignetSQL
import SignetSystem

// A program for tests to kill: it makes changes until then, and prints the durable ones.
//
//   SQLVictim file|server LOCATION
//
// Eight tasks insert numbers, and write each as a line to standard output once its step has ended.

let words = CommandLine.arguments
guard words.count == 3 else { exit(64) }
let location: SQLLocation = words[1] == "file" ? .file(words[2]) : .server(words[2])
let schema = SQLSchema(baseline: [SQLTable("numbers", [.integer("value").primaryKey])])
do {
  let database = try SQLDatabase(location, schema: schema)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for task in 0..<8 {
      group.addTask {
        var value = task
        while true {
          let number = Int64(value)
          try await database.write { connection in
            try connection.execute("INSERT INTO numbers (value) VALUES ($1)", [.integer(number)], changing: 1)
          }.value
          let line = Array("\(number)\n".utf8)
          guard write(1, line, line.count) == line.count else { exit(74) }
          value += 8
        }
      }
    }
    try await group.waitForAll()
  }
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
