#if os(Linux)
  import CLinuxProcess

  /// A guard that detects virtual machines, emulators and containers.
  ///
  /// Many servers, laptops and test machines are virtual, so these findings weigh 0 unless ``IntegritySettings/weights``
  /// sets a weight.
  public struct EmulatorGuard: Guard {
    /// The value `emulator`.
    public let name = "emulator"

    private let root: String
    private let processor: @Sendable () -> String?

    /// Creates a guard of this machine.
    public init() { self.init(root: "") { Self.namedByProcessor() } }

    /// Creates a guard of a machine whose files are below `root`.
    ///
    /// - Parameters:
    ///   - root: The folder used as `/`; empty for `/`.
    ///   - processor: Returns the hypervisor's name as the processor reports it; `nil` if there is none.
    package init(root: String, processor: @escaping @Sendable () -> String?) {
      (self.root, self.processor) = (root, processor)
    }

    /// Reports the hypervisor, the emulator and the container.
    public func examine() -> [Evidence] {
      var evidence: [Evidence] = []
      if let hypervisor = hypervisor() {
        evidence.append(Evidence(.hypervisor, "the machine is a virtual one (\(hypervisor))"))
      }
      if let emulator = emulator() {
        evidence.append(Evidence(.emulator, "the processor is emulated by \(emulator)"))
      }
      if let container = container() {
        evidence.append(Evidence(.container, "the process runs in a container (\(container))"))
      }
      return evidence
    }

    private static func namedByProcessor() -> String? {
      var name: InlineArray<13, CChar> = .init(repeating: 0)
      var span = name.mutableSpan
      let isVirtual = unsafe span.withUnsafeMutableBufferPointer {
        guard let start = $0.baseAddress else { return false }
        return unsafe signet_hypervisor(start) == 1
      }
      guard isVirtual else { return nil }
      let letters = (0..<13).map { UInt8(bitPattern: name[$0]) }.prefix { $0 != 0 }
      return letters.isEmpty ? "without a name" : String(decoding: letters, as: UTF8.self)
    }

    private func hypervisor() -> String? {
      if let named = processor() { return named }
      let products = ["product_name", "sys_vendor"].compactMap { firmware($0) }
      return products.first { product in
        ["QEMU", "KVM", "VirtualBox", "VMware", "Virtual Machine", "Xen", "Bochs", "Parallels"].contains {
          product.contains($0)
        }
      }
    }

    private func emulator() -> String? {
      guard let processors = KernelFile.text("\(root)/proc/cpuinfo", limit: 4096) else { return nil }
      // QEMU without hardware support shows its own processor name; so does an Android emulator ("goldfish").
      return ["TCGTCGTCGTCG", "QEMU Virtual CPU", "Goldfish", "goldfish", "ranchu"].first {
        processors.contains($0)
      }
    }

    private func firmware(_ name: String) -> String? {
      KernelFile.text("\(root)/sys/class/dmi/id/\(name)", limit: 256)?.trimmingSuffix { $0.isNewline }
    }

    private func container() -> String? {
      for (path, engine) in [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")]
      where FileStatus(root + path) != nil {
        return engine
      }
      if let engine = KernelFile.text("\(root)/run/systemd/container", limit: 64), !engine.isEmpty {
        return engine.trimmingSuffix { $0.isNewline }
      }
      let groups = KernelFile.text("\(root)/proc/1/cgroup", limit: 4096) ?? ""
      return ["docker", "kubepods", "containerd", "lxc", "libpod"].first { groups.contains($0) }
    }
  }
#endif
