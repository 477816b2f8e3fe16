package org.heterodoop.mr;

import java.io.EOFException;
import org.apache.hadoop.util.DiskChecker;

/** Why an attempt to which a GPU was promised ran on the CPU, as the end of its counter's name: FALLBACK_... */
final class Fallback {
  private Fallback() {
  }

  /** The driver's own reason is a code of the error index. */
  static String kind(Throwable cause) {
    if (cause instanceof RefusedException) {
      if (isFull(cause)) {
        return "DRIVER_DISK";
      }
      String code = ((RefusedException) cause).code;
      return code.matches("HD[0-9]{3}") ? code : "REFUSED";
    }
    if (cause instanceof PatienceException) {
      return ((PatienceException) cause).kind;
    }
    if (cause instanceof ProtocolException) {
      return "BAD_RESULT";
    }
    if (cause instanceof EOFException) {
      return "DRIVER_GONE";
    }
    return isDisk(cause) ? "NODE_DISK" : "OTHER";
  }

  private static boolean isDisk(Throwable cause) {
    return cause instanceof DiskChecker.DiskErrorException || isFull(cause);
  }

  private static boolean isFull(Throwable cause) {
    return String.valueOf(cause.getMessage()).contains("No space left on device");
  }
}
