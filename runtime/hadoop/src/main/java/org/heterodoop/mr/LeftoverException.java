package org.heterodoop.mr;

import java.io.IOException;

/** A part of a bad result cannot be removed: this attempt must fail, since that part could be taken for its output. */
final class LeftoverException extends IOException {
  private static final long serialVersionUID = 1;

  LeftoverException(String message, Throwable cause) {
    super(message, cause);
  }
}
