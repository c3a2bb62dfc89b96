import Foundation

/// The permission bits of a file, links not followed; nil where there is none.
package func permissions(of path: String) -> Int? {
  var status = stat()
  return lstat(path, &status) == 0 ? Int(status.st_mode & 0o7777) : nil
}

/// Goes on as nobody where the process is root's, which may do anything: for tests of refusals, in a process of their own.
package func giveUpRoot() {
  if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
}
