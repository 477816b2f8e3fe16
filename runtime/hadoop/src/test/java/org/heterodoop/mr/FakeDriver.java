package org.heterodoop.mr;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A driver that speaks the protocol and does what a test wants of it; each connection has a thread of its own. */
final class FakeDriver implements Closeable {
  /** What happens on one connection. */
  interface Behaviour {
    void serve(Talk talk) throws Exception;
  }

  final Path folder;
  /** Notes of the behaviours, such as the types of the messages that came. */
  final Queue<String> heard = new ConcurrentLinkedQueue<>();
  final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final ServerSocketChannel server;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Behaviour behaviour;
  private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();

  /** Listens on FOLDER/driver.sock; the folder is made private. */
  FakeDriver(Path folder, Behaviour behaviour) throws IOException {
    this(folder, ServerSocketChannel.open(StandardProtocolFamily.UNIX), behaviour);
    Files.deleteIfExists(folder.resolve("driver.sock"));
    listen(UnixDomainSocketAddress.of(folder.resolve("driver.sock")));
  }

  private FakeDriver(Path folder, ServerSocketChannel server, Behaviour behaviour) throws IOException {
    this.folder = folder;
    this.server = server;
    this.behaviour = behaviour;
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
  }

  /** Listens on the loopback; FOLDER/driver.port and FOLDER/secret tell how to reach it. */
  static FakeDriver tcp(Path folder, byte[] secret, String secretInFile, Behaviour behaviour) throws IOException {
    FakeDriver driver = new FakeDriver(folder, ServerSocketChannel.open(), talk -> {
      byte[] nonce = talk.expect(Frame.HELLO).bytes("nonce");
      byte[] own = new byte[32];
      own[0] = 7;
      talk.send(Frame.CHALLENGE, new Fields().add("nonce", own).add("proof", Handshake.proof(secret, "driver", nonce)));
      byte[] proof = talk.expect(Frame.PROOF).bytes("proof");
      if (java.util.Arrays.equals(proof, Handshake.proof(secret, "task", own))) {
        behaviour.serve(talk);
      }
    });
    driver.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    int port = ((InetSocketAddress) driver.server.getLocalAddress()).getPort();
    driver.writePrivate("driver.port", port + "\n");
    driver.writePrivate("secret", secretInFile);
    return driver;
  }

  private void writePrivate(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
    Files.setPosixFilePermissions(folder.resolve(name), PosixFilePermissions.fromString("r--------"));
  }

  private void listen(SocketAddress address) throws IOException {
    server.bind(address);
    start(this::accept);
  }

  private void start(Runnable action) {
    Thread thread = new Thread(action, "fake-driver");
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void accept() {
    try {
      for (;;) {
        SocketChannel channel = server.accept();
        start(() -> serve(channel));
      }
    } catch (ClosedChannelException e) {
      // the test is over
    } catch (IOException e) {
      failures.add(e);
    }
  }

  private void serve(SocketChannel channel) {
    try (channel) {
      behaviour.serve(new Talk(channel));
    } catch (EOFException e) {
      heard.add("closed");
    } catch (IOException e) {
      heard.add("broken");
    } catch (Throwable e) {
      failures.add(e);
    }
  }

  /** Waits until the driver has heard that. */
  void await(String what) throws InterruptedException {
    for (int i = 0; i < 500 && !heard.contains(what); i++) {
      Thread.sleep(10);
    }
    if (!heard.contains(what)) {
      throw new AssertionError("not heard: " + what + " in " + heard);
    }
  }

  @Override
  public void close() throws IOException {
    stopped.countDown();
    server.close();
    for (Thread thread : threads) {
      try {
        thread.join(TimeUnit.SECONDS.toMillis(5));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (!failures.isEmpty()) {
      throw new AssertionError(failures.peek());
    }
  }

  /** One connection, from the driver's side. */
  final class Talk {
    private final DataInputStream in;
    private final OutputStream out;

    Talk(SocketChannel channel) {
      in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)));
      out = Channels.newOutputStream(channel);
    }

    Frame receive() throws IOException {
      int length = in.readInt() - 1;
      int type = in.readUnsignedByte();
      byte[] payload = new byte[length];
      in.readFully(payload);
      return new Frame(type, payload, length);
    }

    Fields expect(int type) throws IOException {
      Frame frame = receive();
      if (frame.type != type) {
        throw new AssertionError("type " + frame.type + " came where " + type + " must");
      }
      return frame.fields();
    }

    void raw(byte[] bytes) throws IOException {
      out.write(bytes);
      out.flush();
    }

    void send(int type, Fields fields) throws IOException {
      send(type, fields.encode());
    }

    void send(int type, byte[] payload) throws IOException {
      raw(ByteBuffer.allocate(5 + payload.length).putInt(payload.length + 1).put((byte) type).put(payload).array());
    }

    /** The bytes as DATA messages of that size, and END. */
    void data(byte[] bytes, int piece) throws IOException {
      for (int at = 0; at < bytes.length; at += piece) {
        send(Frame.DATA, java.util.Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + piece)));
      }
      send(Frame.END, new Fields());
    }

    /** What comes until END. */
    byte[] data() throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (Frame frame = receive(); frame.type != Frame.END; frame = receive()) {
        if (frame.type != Frame.DATA) {
          throw new AssertionError("type " + frame.type + " instead of data");
        }
        bytes.write(frame.payload, 0, frame.length);
      }
      return bytes.toByteArray();
    }

    void answer(String run, String reason, String code) throws IOException {
      send(Frame.ANSWER, new Fields().add("run", run).add("reason", reason).add("code", code).add("ahead", 0)
          .add("forced", "0").add("version", Frame.VERSION).add("pid", 4711));
    }

    /** Notes what the task says at its end: INSTALLED, CPU_DONE or FAILED, then that it has closed. */
    void end() throws IOException {
      Frame frame = receive();
      List<String> names = List.of("INSTALLED", "CPU_DONE", "FAILED");
      String seconds = frame.type == Frame.CPU_DONE ? frame.fields().text("seconds") : "0.0";
      if (frame.type < Frame.INSTALLED || frame.type > Frame.FAILED || !seconds.matches("[0-9]{1,9}\\.[0-9]{1,6}")) {
        throw new AssertionError("type " + frame.type + " at the end");
      }
      heard.add(names.get(frame.type - Frame.INSTALLED));
      heard.add("reason " + (frame.type == Frame.FAILED ? frame.fields().text("reason") : ""));
      receive();
    }

    void hear(String text) {
      heard.add(text);
    }

    /** Says nothing until the test is over. */
    void sleep() throws InterruptedException {
      stopped.await();
    }
  }
}
