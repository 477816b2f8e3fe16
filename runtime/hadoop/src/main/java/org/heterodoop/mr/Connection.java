package org.heterodoop.mr;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * Messages to and from the driver, over a connected socket of either kind.
 *
 * <p>No call waits longer than `silenceMs` for the driver to take or to send a byte: a stopped driver must cost a map task
 * that time, and not the task's own timeout. Used by one thread.
 */
final class Connection implements Closeable {
  private static final int HEADER = 5;
  private static final int BUFFER = 256 << 10;

  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final long silenceMs;
  private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER);
  private byte[] payload = new byte[4 << 10];

  /** Takes over the channel: it is closed with the connection, and also when this fails. */
  Connection(SocketChannel channel, long silenceMs) throws IOException {
    this.channel = channel;
    this.silenceMs = silenceMs;
    in.flip();
    Selector made = null;
    try {
      channel.configureBlocking(false);
      made = channel.provider().openSelector();
      key = channel.register(made, 0);
    } catch (IOException e) {
      channel.close();
      if (made != null) {
        made.close();
      }
      throw e;
    }
    selector = made;
  }

  void send(int type, Fields fields) throws IOException {
    byte[] bytes = fields.encode();
    if (bytes.length > Frame.limit(type)) {
      throw new ProtocolException(bytes.length + " bytes are more than a message of type " + type + " may have");
    }
    send(type, bytes, bytes.length);
  }

  /** A message without fields. */
  void send(int type) throws IOException {
    send(type, new Fields());
  }

  void send(int type, byte[] bytes, int length) throws IOException {
    ByteBuffer out = frame(type, bytes, length);
    while (out.hasRemaining()) {
      if (channel.write(out) == 0) {
        await(SelectionKey.OP_WRITE);
      }
    }
  }

  /** Last words to a driver that may not listen any more: sent if that is possible at once. */
  void sendIfItTakesIt(int type, Fields fields) {
    try {
      byte[] bytes = fields.encode();
      channel.write(frame(type, bytes, bytes.length));
    } catch (IOException e) {
      // It is gone; a closed socket tells it the same.
    }
  }

  private static ByteBuffer frame(int type, byte[] bytes, int length) {
    ByteBuffer out = ByteBuffer.allocate(HEADER + length);
    out.putInt(length + 1).put((byte) type).put(bytes, 0, length);
    out.flip();
    return out;
  }

  /** The next message. It lives in this object's buffer until the next call. */
  Frame receive() throws IOException {
    read(HEADER);
    ByteBuffer header = ByteBuffer.wrap(payload);
    long length = (header.getInt() & 0xFFFFFFFFL) - 1;
    int type = header.get() & 0xFF;
    if (length < 0 || length > Frame.limit(type)) {
      throw new ProtocolException("the driver announces a message of type " + type + " with " + length + " bytes");
    }
    read((int) length);
    return new Frame(type, payload, (int) length);
  }

  private void read(int length) throws IOException {
    if (payload.length < length) {
      payload = new byte[Math.max(length, 2 * payload.length)];
    }
    for (int have = 0; have < length;) {
      if (!in.hasRemaining()) {
        fill();
      }
      int n = Math.min(length - have, in.remaining());
      in.get(payload, have, n);
      have += n;
    }
  }

  private void fill() throws IOException {
    in.clear();
    try {
      int n = channel.read(in);
      while (n == 0) {
        await(SelectionKey.OP_READ);
        n = channel.read(in);
      }
      if (n < 0) {
        throw new EOFException("the driver closed the connection");
      }
    } finally {
      in.flip();
    }
  }

  private void await(int operation) throws IOException {
    key.interestOps(operation);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(silenceMs);
    for (long left = silenceMs; left > 0; left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())) {
      int ready = selector.select(left);
      selector.selectedKeys().clear();
      if (ready > 0) {
        return;
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedIOException("interrupted while waiting for the driver");
      }
    }
    throw new PatienceException(PatienceException.SILENT, "the driver was silent for " + silenceMs + " ms");
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      selector.close();
    }
  }
}
