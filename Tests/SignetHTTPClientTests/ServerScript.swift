/// The server of the tests: Python's `ssl`, so that neither end shares code with the transport.
///
/// It answers by path, counts events, and is controlled over its standard input; it ends when that closes.
let serverScript = #"""
  import json, os, signal, socket, ssl, sys, threading, warnings

  warnings.simplefilter("ignore")  # that old TLS versions are deprecated is what they are here for
  config = json.loads(sys.argv[1])
  signal.alarm(300)  # ends by itself, whatever becomes of the test
  counts = {"accepts": 0, "handshakes": 0, "refusals": 0, "requests": 0, "ended": 0}
  changed = threading.Condition()

  def count(name):
      with changed:
          counts[name] += 1
          changed.notify_all()

  def wait_for(name, number):
      with changed:
          changed.wait_for(lambda: counts[name] >= number)

  context = None
  if config.get("certificate"):
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain(config["certificate"], config["key"])
      context.set_ciphers(config.get("ciphers") or "DEFAULT")
      version = getattr(ssl.TLSVersion, config.get("version") or "TLSv1_3")
      context.minimum_version = min(version, ssl.TLSVersion.TLSv1_2)
      context.maximum_version = version

  def read_request(stream):
      data = b""
      while b"\r\n\r\n" not in data:
          part = stream.recv(65536)
          if not part:
              return None
          data += part
          if data[0] == 22:  # a TLS handshake record, at a server without TLS
              stream.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
              return None
      head, body = data.split(b"\r\n\r\n", 1)
      length = 0
      for line in head.split(b"\r\n")[1:]:
          name, value = line.split(b":", 1)
          if name.lower() == b"content-length":
              length = int(value)
      while len(body) < length:
          body += stream.recv(65536)
      return head + b"\r\n\r\n" + body

  def reply(stream, body, status="200 OK", fields=""):
      head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{fields}\r\n"
      stream.sendall(head.encode() + body)

  def answer(stream, request):
      path = request.split(b" ")[1].decode()
      if path.startswith("/status/"):
          reply(stream, b"", status=path[8:] + " Whatever", fields="Location: /echo\r\n")
      elif path.startswith("/echo"):
          reply(stream, request, fields="X-One: 1\r\nSet-Cookie: a=b; Secure\r\nX-Empty:\r\n")
      elif path == "/hints":
          stream.sendall(b"HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n")
          reply(stream, b"late", fields="X-Late: 1\r\n")
      elif path == "/trailer":
          stream.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
          stream.sendall(b"3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n")
      elif path == "/gather":
          wait_for("requests", 50)
          reply(stream, b"all")
      elif path.startswith("/bytes/"):
          reply(stream, b"x" * int(path[7:]))
      elif path == "/announced":
          stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
          stream.recv(1)
          return False
      elif path == "/stream":
          stream.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
          while True:
              stream.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
      elif path == "/fields":
          stream.sendall(b"HTTP/1.1 200 OK\r\n")
          while True:
              stream.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")
      elif path == "/cut":
          stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
          return False
      elif path == "/cut-chunk":
          stream.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n0123456789")
          return False
      elif path == "/cut-name":
          stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Mo")
          return False
      elif path == "/cut-fields":
          stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")
          return False
      elif path == "/until-close":
          stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n0123456789")
          return False
      elif path == "/until-reset":
          stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n0123456789")
          socket.socket(fileno=stream.detach()).close()  # no close_notify: anyone could have cut here
          return None
      elif path == "/garbage":
          stream.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")
          return False
      elif path == "/binary":
          stream.sendall(bytes(range(256)))
          return False
      elif path == "/no-colon":
          stream.sendall(b"HTTP/1.1 200 OK\r\nthis is no field\r\nContent-Length: 0\r\n\r\n")
      elif path == "/bad-name":
          reply(stream, b"", fields="X(Y: 1\r\n")
      elif path == "/hang":
          while stream.recv(65536):
              pass
          return False
      elif path == "/empty":
          return False
      return True

  def serve(raw):
      stream = raw
      try:
          if config.get("silent"):
              while raw.recv(65536):
                  pass
              return
          if config.get("tunnel"):
              return tunnel(raw)
          if context:
              stream = context.wrap_socket(raw, server_side=True)
              count("handshakes")
          while True:
              request = read_request(stream)
              if request is None:
                  return
              count("requests")
              result = answer(stream, request)
              if result is None:
                  return
              if result is False:
                  if context:
                      stream.setblocking(False)
                      try: stream.unwrap()
                      except (OSError, ValueError): pass
                  return
      except (ssl.SSLError, OSError):
          count("refusals")
      finally:
          try: stream.close()
          except OSError: pass
          count("ended")

  def tunnel(raw):
      head = read_request(raw)
      count("requests")
      host, port = head.split(b" ")[1].decode().split(":")
      other = socket.create_connection((host, int(port)))
      raw.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n")
      def pump(source, sink):
          try:
              while data := source.recv(65536):
                  sink.sendall(data)
              sink.shutdown(socket.SHUT_WR)
          except OSError:
              pass
      back = threading.Thread(target=pump, args=(other, raw), daemon=True)
      back.start()
      pump(raw, other)
      back.join()

  listener = socket.socket()
  listener.bind(("127.0.0.1", 0))
  port = listener.getsockname()[1]

  def accept_all():
      while True:
          raw, _ = listener.accept()
          count("accepts")
          threading.Thread(target=serve, args=(raw,), daemon=True).start()

  def listen():
      listener.listen(128)
      threading.Thread(target=accept_all, daemon=True).start()

  def check():
      # A client without scruples, to show that the server itself works.
      lax = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
      lax.check_hostname = False
      lax.verify_mode = ssl.CERT_NONE
      lax.set_ciphers("ALL:@SECLEVEL=0")
      lax.minimum_version = ssl.TLSVersion.TLSv1
      with socket.create_connection(("127.0.0.1", port)) as raw, lax.wrap_socket(raw) as stream:
          return f"{stream.version()} {stream.cipher()[0]}"

  if not config.get("late"):
      listen()
  print(json.dumps({"port": port}), flush=True)
  for line in sys.stdin:
      words = line.split()
      text = ""
      if words[0] == "wait":
          wait_for(words[1], int(words[2]))
      elif words[0] == "listen":
          listen()
      elif words[0] == "check":
          text = check()
      elif words[0] == "knock":
          before = counts["accepts"]
          socket.create_connection(("127.0.0.1", port)).close()
          wait_for("accepts", before + 1)
      with changed:
          print(json.dumps({"counts": counts, "text": text}), flush=True)
  os._exit(0)
  """#
