import SignetCrypto
import SignetServer
import SignetSystem
import SignetUAF

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DataDirectory {
  /// Creates the UAF setup with the metadata statements that the settings name.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  func uafSetup() throws(DataDirectoryFailure) -> UAFSetup? {
    guard let settings = settings.uaf else { return nil }
    return UAFSetup(settings, models: try models(settings)) { () throws(DataDirectoryFailure) in
      try models(settings)
    }
  }

  private func models(_ settings: UAFSettings) throws(DataDirectoryFailure) -> AuthenticatorModels {
    // The models of Signet's own devices are always known; a file overrides one if its version is later.
    var models: [AuthenticatorModel] = []
    for statement in UAFAuthenticatorModel.statements {
      do throws(MessageFailure) { models.append(try AuthenticatorModel(statement)) } catch {
        preconditionFailure("a model of Signet is not valid: \(error)")
      }
    }
    if let name = settings.metadata {
      let folder = name.hasPrefix("/") ? name : "\(path)/\(name)"
      // A user who can write to the folder could link files that the operator owns elsewhere.
      do throws(FileFailure) {
        try FileRule(
          name.hasPrefix("/") ? .foreignFolder : .folder, forbiddenMode: FolderFile.Access.plain.rawValue
        ).check(folder)
      } catch .missing { throw .fileOfSetting("uaf.metadata", path: folder) } catch {
        throw DataDirectoryFailure(reading: folder, error)
      }
      for file in try Self.statements(in: folder) {
        let content = try FolderFile("\(folder)/\(file)", .plain).read(
          isOutsideFolder: name.hasPrefix("/"), limit: 1 << 20)
        do throws(MessageFailure) {
          models.append(try AuthenticatorModel(try MetadataStatement(parsing: content.insecureCopy())))
        } catch {
          throw .settings(path: "\(folder)/\(file)", reason: "it is not a metadata statement: \(error)")
        }
      }
    }
    return AuthenticatorModels(models)
  }

  /// Returns the names of the files that end in `.json`, in order.
  private static func statements(in folder: String) throws(DataDirectoryFailure) -> [String] {
    do throws(FileFailure) {
      return try FolderListing.names(in: folder).filter { $0.hasSuffix(".json") }
    } catch { throw .unreadable(path: folder, errno: error.code) }
  }
}
