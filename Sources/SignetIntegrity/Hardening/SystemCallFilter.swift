#if os(Linux)
  import CLinuxProcess

  /// A filter of system calls that a process can never use again (seccomp; seccomp(2)).
  ///
  /// The kernel refuses the calls with `EPERM` and kills nothing, so a caller can report the error. A service's unit lists
  /// the calls that it needs (`SystemCallFilter=`). This filter lists calls that no Signet program needs and that attacks
  /// rely on.
  public struct SystemCallFilter: Sendable, Hashable {
    /// The numbers of the calls on this processor.
    let numbers: [UInt32]

    /// The filter for a program that starts no others.
    ///
    /// It refuses tracing, starting programs, kernel modules, mounts, namespaces, and raw performance counters.
    public static let denyExec = SystemCallFilter(numbers: dangerous + starting)

    private static let dangerous = [
      SYS_ptrace, SYS_process_vm_writev, SYS_kcmp, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
      SYS_init_module,
      SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_mount,
      SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_add_key, SYS_request_key,
      SYS_keyctl,
      SYS_acct, SYS_quotactl, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
      SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_personality, SYS_vhangup, SYS_syslog,
      SYS_process_madvise,
      SYS_move_mount, SYS_fsopen, SYS_fsmount, SYS_fsconfig, SYS_fspick, SYS_open_tree, SYS_io_uring_setup,
      SYS_io_uring_enter, SYS_io_uring_register, SYS_sethostname, SYS_setdomainname,
    ].map { UInt32($0) }

    private static let starting = [SYS_execve, SYS_execveat].map { UInt32($0) }

    /// Applies the filter to all threads of this process and forbids new privileges.
    ///
    /// - Throws: ``GuardFailure`` if the kernel has no filters, or a container forbids them.
    public func begin() throws(GuardFailure) {
      let error = unsafe numbers.withUnsafeBufferPointer {
        unsafe signet_refuse_calls($0.baseAddress, UInt32($0.count))
      }
      guard error == 0 else {
        throw GuardFailure("the kernel does not accept a filter of system calls (error \(error))")
      }
    }

    /// True if a filter is in force for this process; `nil` if `/proc` does not say.
    public static var isInForce: Bool? {
      KernelFile.text("/proc/self/status", limit: 8192).flatMap { ProcessStatus.filterMode(in: $0) }.map {
        $0 == 2
      }
    }
  }
#endif
