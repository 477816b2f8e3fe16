package org.heterodoop.mr;

/** One received message: its type, and the first `length` bytes of `payload` (valid until the next receive). */
final class Frame {
  static final int OFFER = 1;
  static final int ANSWER = 2;
  static final int RUN = 3;
  static final int NEED = 4;
  static final int PROGRESS = 5;
  static final int READ = 6;
  static final int RESULT = 7;
  static final int REFUSED = 8;
  static final int DATA = 9;
  static final int END = 10;
  static final int INSTALLED = 11;
  static final int CPU_DONE = 12;
  static final int FAILED = 13;
  static final int HELLO = 14;
  static final int CHALLENGE = 15;
  static final int PROOF = 16;
  static final int WAIT = 17;

  /** Version of the protocol, docs/driver-protocol.md. */
  static final String VERSION = "3";
  static final int MAX_DATA = 1 << 20;
  /** OFFER and RUN carry the environment and the list of files. */
  static final int MAX_FIRST = 4 << 20;
  static final int MAX_CONTROL = 64 << 10;

  final int type;
  final byte[] payload;
  final int length;

  Frame(int type, byte[] payload, int length) {
    this.type = type;
    this.payload = payload;
    this.length = length;
  }

  Fields fields() throws ProtocolException {
    return Fields.decode(payload, length);
  }

  /** The fields, if the message is of the type that must come now. */
  Fields expect(int wanted) throws ProtocolException {
    if (type != wanted) {
      throw new ProtocolException("the driver sent a message of type " + type + " where type " + wanted + " must come");
    }
    return fields();
  }

  /** Bytes that a message of this type may have. */
  static int limit(int type) {
    switch (type) {
      case DATA:
        return MAX_DATA;
      case OFFER:
      case RUN:
        return MAX_FIRST;
      default:
        return MAX_CONTROL;
    }
  }
}
