package org.heterodoop.mr;

import java.io.IOException;

/** Something answers as the driver, or could, that is not known to be the same user: nothing is sent to it. */
final class UntrustedException extends IOException {
  private static final long serialVersionUID = 1;

  UntrustedException(String message) {
    super(message);
  }
}
