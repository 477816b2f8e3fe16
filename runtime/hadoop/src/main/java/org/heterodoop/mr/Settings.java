package org.heterodoop.mr;

/** Names of the job settings that the plug-in reads, with their defaults. docs/hadoop-plugin.md lists the same. */
final class Settings {
  /** Name of the bundle's folder in the task's working folder, such as wc.hdp. */
  static final String BUNDLE = "heterodoop.bundle";
  static final String BUNDLE_SHA256 = "heterodoop.bundle.sha256";
  /** NAME=HASH,...: hashes of files that submit knows already. */
  static final String FILES_SHA256 = "heterodoop.files.sha256";
  /** The input format that makes the splits, and the records of a CPU attempt. */
  static final String INPUT_FORMAT = "heterodoop.inputformat";
  static final String POLICY = "heterodoop.policy";
  static final String VERIFY = "heterodoop.verify";
  /** May an attempt use the GPU too after one of the same task has failed? */
  static final String GPU_RETRY = "heterodoop.gpu.retry";
  static final String DRIVER_DIR = "heterodoop.driver.dir";
  static final String DRIVER_TCP = "heterodoop.driver.tcp";
  static final String SILENCE_MS = "heterodoop.driver.silence.ms";
  static final int SILENCE_MS_DEFAULT = 30_000;
  /** May the plug-in have counters that Hadoop counts against mapreduce.job.counters.max? */
  static final String DETAILS = "heterodoop.counters.details";
  static final String WAIT_MAX_MS = "heterodoop.gpu.wait.max.ms";
  static final long WAIT_MAX_MS_DEFAULT = 600_000;
  /** Everything that starts so is told to the driver. */
  static final String PREFIX = "heterodoop.";

  static final String RECORD_DELIMITER = "textinputformat.record.delimiter";

  private Settings() {
  }
}
