import Foundation

/// Returns the permission bits of a file without following links; nil if it is missing.
package func permissions(of path: String) -> Int? {
  var status = stat()
  return lstat(path, &status) == 0 ? Int(status.st_mode & 0o7777) : nil
}

/// Switches from root to the user 65534, for tests of refused access; call it only in a child process.
package func dropPrivileges() {
  if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
}
