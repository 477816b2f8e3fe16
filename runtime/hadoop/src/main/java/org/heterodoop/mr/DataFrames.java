package org.heterodoop.mr;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Bytes of any length as a run of DATA messages that END closes. */
final class DataFrames {
  /** Takes a piece of the bytes; it is valid during the call. */
  interface Sink {
    void write(byte[] bytes, int length) throws IOException;
  }

  private DataFrames() {
  }

  /** Raises ProtocolException unless exactly `length` bytes come. */
  static void receive(Connection driver, long length, Sink sink) throws IOException {
    long left = length;
    for (Frame frame = driver.receive(); frame.type != Frame.END; frame = driver.receive()) {
      if (frame.type != Frame.DATA || frame.length > left) {
        throw new ProtocolException("the driver announced " + length + " bytes and sends "
            + (frame.type == Frame.DATA ? "more" : "a message of type " + frame.type));
      }
      sink.write(frame.payload, frame.length);
      left -= frame.length;
    }
    if (left > 0) {
      throw new ProtocolException("the driver announced " + length + " bytes and ends " + left + " bytes earlier");
    }
  }

  static byte[] receive(Connection driver, long length) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    receive(driver, length, (piece, n) -> bytes.write(piece, 0, n));
    return bytes.toByteArray();
  }

  /** Sends up to `length` bytes of the stream, fewer where it ends earlier. */
  static void send(Connection driver, InputStream in, long length) throws IOException {
    byte[] buffer = new byte[(int) Math.min(length, Frame.MAX_DATA)];
    for (long left = length; left > 0;) {
      int n = in.read(buffer, 0, (int) Math.min(left, buffer.length));
      if (n < 0) {
        break;
      }
      driver.send(Frame.DATA, buffer, n);
      left -= n;
    }
    driver.send(Frame.END);
  }
}
