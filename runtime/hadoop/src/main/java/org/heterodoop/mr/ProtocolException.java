package org.heterodoop.mr;

import java.io.IOException;

/** The driver sent what the protocol does not allow, or a result that is not a map output of this job. */
final class ProtocolException extends IOException {
  private static final long serialVersionUID = 1;

  ProtocolException(String message) {
    super(message);
  }
}
