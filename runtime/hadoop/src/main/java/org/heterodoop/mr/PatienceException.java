package org.heterodoop.mr;

import java.io.IOException;

/** The task waited for as long as it may. `kind`: for what, as a counter's name ends. */
final class PatienceException extends IOException {
  private static final long serialVersionUID = 1;
  static final String SILENT = "DRIVER_SILENT";
  static final String QUEUE = "QUEUE";
  final String kind;

  PatienceException(String kind, String reason) {
    super(reason);
    this.kind = kind;
  }
}
