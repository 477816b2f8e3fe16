package org.heterodoop.mr;

import java.io.IOException;

/** The driver gives the task back. The connection lives on: the CPU run is told over it. */
final class RefusedException extends IOException {
  private static final long serialVersionUID = 1;
  final String code;

  RefusedException(String reason, String code) {
    super(reason);
    this.code = code;
  }
}
