package org.heterodoop.mr;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The payload of a control message: names and values in order; a repeated name is a list. */
final class Fields {
  private static final int MAX_FIELDS = 0xFFFF;
  private static final int MAX_NAME = 0xFF;

  private final List<String> names = new ArrayList<>();
  private final List<byte[]> values = new ArrayList<>();

  Fields add(String name, byte[] value) {
    names.add(name);
    values.add(value);
    return this;
  }

  Fields add(String name, String value) {
    return add(name, value.getBytes(StandardCharsets.UTF_8));
  }

  Fields add(String name, long value) {
    return add(name, Long.toString(value));
  }

  boolean has(String name) {
    return names.contains(name);
  }

  /** The first value of that name, or no bytes. */
  byte[] bytes(String name) {
    int at = names.indexOf(name);
    return at < 0 ? new byte[0] : values.get(at);
  }

  String text(String name) {
    return new String(bytes(name), StandardCharsets.UTF_8);
  }

  boolean flag(String name) {
    return text(name).equals("1");
  }

  List<String> texts(String name) {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equals(name)) {
        found.add(new String(values.get(i), StandardCharsets.UTF_8));
      }
    }
    return found;
  }

  /** A number that must not be negative. */
  long number(String name) throws ProtocolException {
    return number(name, text(name));
  }

  static long number(String name, String text) throws ProtocolException {
    try {
      long value = Long.parseLong(text);
      if (value >= 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // reported below, as a negative one is
    }
    throw new ProtocolException(name + " is no number: " + text);
  }

  byte[] encode() throws ProtocolException {
    if (names.size() > MAX_FIELDS) {
      throw new ProtocolException(names.size() + " fields do not fit into one message");
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeShort(names.size());
      for (int i = 0; i < names.size(); i++) {
        byte[] name = names.get(i).getBytes(StandardCharsets.US_ASCII);
        if (name.length > MAX_NAME) {
          throw new IllegalArgumentException("field name too long: " + names.get(i));
        }
        out.writeByte(name.length);
        out.write(name);
        out.writeInt(values.get(i).length);
        out.write(values.get(i));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static Fields decode(byte[] payload, int length) throws ProtocolException {
    ByteBuffer in = ByteBuffer.wrap(payload, 0, length);
    Fields fields = new Fields();
    try {
      int count = in.getShort() & 0xFFFF;
      for (int i = 0; i < count; i++) {
        String name = new String(take(in, in.get() & 0xFF), StandardCharsets.US_ASCII);
        fields.add(name, take(in, in.getInt()));
      }
    } catch (BufferUnderflowException e) {
      throw new ProtocolException("a message of the driver ends inside a field");
    }
    if (in.hasRemaining()) {
      throw new ProtocolException("a message of the driver is longer than its fields");
    }
    return fields;
  }

  private static byte[] take(ByteBuffer in, int length) throws ProtocolException {
    if (length < 0 || length > in.remaining()) {
      throw new ProtocolException("a message of the driver names a field of " + length + " bytes and has not that many");
    }
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }
}
