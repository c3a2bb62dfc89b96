#if os(Linux)
  package import Foundation
  package import SignetTestKit

  /// The file of a PAM service in a private folder, with the modules of the system and of libpam-wrapper.
  package struct PAMServiceFolder: Sendable {
    /// The modules of libpam-wrapper, in a multiarch folder.
    private static let wrapper: String? = {
      let folder = "/usr/lib"
      let names: [String]
      // Tests report missing modules.
      do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch { return nil }
      return (names.map { "\(folder)/\($0)" } + [folder]).map { "\($0)/pam_wrapper" }
        .first { FileManager.default.fileExists(atPath: "\($0)/pam_matrix.so") }
    }()

    /// Indicates whether the modules are installed; in CI they must be.
    package static let isPossible = wrapper != nil || ContinuousIntegration.isHere
    /// The answer that `pam_matrix` accepts.
    package static let answer = "right passcode"

    /// The folder of the file.
    package let folder: TemporaryFolder

    /// Writes the file of a service.
    ///
    /// - Parameters:
    ///   - lines: Its lines, with placeholders: `MATRIX` and `CHATTY` for the modules, `FOLDER` for ``folder``. The database of
    ///     `MATRIX` has the user with ``answer``.
    ///   - name: The name of the file.
    ///   - words: The content of the file `words`.
    /// - Throws: Errors of the file system.
    package init(_ lines: [String], name: String = "signet", words: Data = Data()) throws {
      folder = try TemporaryFolder()
      let database = folder.file("passdb")
      try Data("\(NSUserName()):\(Self.answer):\(name)\n".utf8).write(to: URL(filePath: database))
      try words.write(to: URL(filePath: folder.file("words")))
      let text = lines.map { [folder] line in
        line.replacing("MATRIX", with: "\(Self.wrapper ?? "")/pam_matrix.so passdb=\(database)")
          .replacing("CHATTY", with: "\(Self.wrapper ?? "")/pam_chatty.so")
          .replacing("FOLDER", with: folder.path)
      }
      try Data((text.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: folder.file(name)))
    }
  }
#endif
