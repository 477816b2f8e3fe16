package org.heterodoop.mr;

import java.util.Locale;

/** The counters of the group HeteroDoop, beside one DECLINED_... for each reason of Decline. */
final class HeteroCounters {
  static final String GROUP = "HeteroDoop";
  /** Attempts whose map output a GPU made, and those that ran the CPU filter. */
  static final String GPU_MAPS = "GPU_MAPS";
  static final String CPU_MAPS = "CPU_MAPS";
  /** CPU attempts to which the driver had promised a GPU. */
  static final String FALLBACKS = "FALLBACKS";
  /** GPU attempts that waited for one by the tail rule, though their processor was free. */
  static final String GPU_FORCED_MAPS = "GPU_FORCED_MAPS";
  /** GPU attempts that the driver computed a second time. */
  static final String GPU_RETRIED_MAPS = "GPU_RETRIED_MAPS";
  static final String GPU_READ_BYTES = "GPU_READ_BYTES";
  /** In the driver's queue. */
  static final String GPU_QUEUE_MS = "GPU_QUEUE_MS";
  /** From the offer to the installed map output. */
  static final String GPU_ATTEMPT_MS = "GPU_ATTEMPT_MS";
  /** From the announced result to the installed map output. */
  static final String GPU_INSTALL_MS = "GPU_INSTALL_MS";
  static final String DECLINED = "DECLINED_";

  private HeteroCounters() {
  }

  /** Milliseconds that GPU tasks spent in a stage of the driver's; its stages have no name of the three above. */
  static String stage(String name) {
    return "GPU_" + name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]+", "_") + "_MS";
  }
}
