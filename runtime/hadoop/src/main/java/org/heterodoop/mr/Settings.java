package org.heterodoop.mr;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Job settings that the plug-in reads: names, defaults (_DEFAULT), and what leaves an attempt to a GPU (_TAKEN).
 *
 * <p>Written by `make docs` from heterodoop/job/settings.py: change it there.
 */
final class Settings {
  /**
   * Largest split in bytes (default: a 32nd of the input in whole MiB, from 4 MiB to 64 MiB; 64 MiB where
   * split.minsize or mapreduce.job.maps is set; under Hadoop a block). Plain streaming jobs do not heed it (HD656).
   */
  static final String MAX_SPLIT = "mapreduce.input.fileinputformat.split.maxsize";

  /** End of a record, taken as it is, instead of \n, \r\n and \r (--record-delimiter understands escapes). */
  static final String RECORD_DELIMITER = "textinputformat.record.delimiter";

  /** Records of so many bytes, their ends included, are passed over without a word, as in Hadoop. */
  static final String MAX_LENGTH = "mapreduce.input.linerecordreader.line.maxlength";

  /** Memory in MiB that one task's sort or merge may hold; beyond it spills to disk. */
  static final String SORT_MB = "mapreduce.task.io.sort.mb";

  /** Whether a filter that exits with a status other than 0 fails its task. */
  static final String NON_ZERO_EXIT_IS_FAILURE = "stream.non.zero.exit.is.failure";

  /** How stderr lines begin that are counters or status, not log. */
  static final String REPORTER_PREFIX = "stream.stderr.reporter.prefix";

  /** Longest value of a setting, in characters, that filters see in their environment; -1 = no limit. */
  static final String TRUNCATE_LIMIT = "stream.jobconf.truncate.limit";
  static final int TRUNCATE_LIMIT_DEFAULT = -1;

  /** More environment for the filters: NAME=VALUE NAME=VALUE, no blanks in values (-cmdenv). */
  static final String ADD_ENVIRONMENT = "stream.addenvironment";

  /** Scheduling policy that the driver uses for the job (--policy). */
  static final String POLICY = "heterodoop.policy";

  /**
   * Bytes of input that one map attempt under Hadoop does at most, as several splits where they are smaller; 0 =
   * each split has its own; `auto`: 16 to 512 MiB, for about two attempts to a slot of the cluster. Only where no
   * byte of the result can change; else `submit` says why (HD661).
   */
  static final String GROUP_BYTES = "heterodoop.group.bytes";

  /** Whether Java checks each record of a GPU's result before it installs it. */
  static final String VERIFY = "heterodoop.verify";
  static final boolean VERIFY_DEFAULT = false;

  /** Whether an attempt may use a GPU too after one of the same task has failed. */
  static final String GPU_RETRY = "heterodoop.gpu.retry";
  static final boolean GPU_RETRY_DEFAULT = false;

  /** Whether the plug-in may have counters that Hadoop counts against mapreduce.job.counters.max. */
  static final String DETAILS = "heterodoop.counters.details";
  static final boolean DETAILS_DEFAULT = true;

  /** An attempt that waited longer for a GPU runs on the CPU. */
  static final String WAIT_MAX_MS = "heterodoop.gpu.wait.max.ms";
  static final long WAIT_MAX_MS_DEFAULT = 600000L;

  /** A driver that takes or sends nothing for so long is given up. */
  static final String SILENCE_MS = "heterodoop.driver.silence.ms";
  static final int SILENCE_MS_DEFAULT = 30000;

  /**
   * The folder of the driver's sockets (default: /run/heterodoop-UID, else /tmp/heterodoop-UID; `submit` hands on
   * `HETERODOOP_DRIVER_DIR`).
   */
  static final String DRIVER_DIR = "heterodoop.driver.dir";

  /** Whether TCP on the loopback is used instead of the Unix socket (default: with Java older than 16). */
  static final String DRIVER_TCP = "heterodoop.driver.tcp";

  /** Name of the bundle's folder in the task's working folder, such as `wc.hdp`. */
  static final String BUNDLE = "heterodoop.bundle";

  /** Hash of the bundle, by which drivers know it. */
  static final String BUNDLE_SHA256 = "heterodoop.bundle.sha256";

  /** `NAME=HASH,...`: hashes of localized files that are known already; the task computes the others. */
  static final String FILES_SHA256 = "heterodoop.files.sha256";

  /** Whether one filter process reads all splits of an attempt, one after the other. */
  static final String GROUP_JOINED = "heterodoop.group.joined";
  static final boolean GROUP_JOINED_DEFAULT = false;

  /** The input format behind `HeteroInputFormat` (default: `TextInputFormat`). */
  static final String INPUT_FORMAT = "heterodoop.inputformat";

  /** Fields of a line of the map filter that are its key (default: 1); a line with fewer separators is all key. */
  static final String MAP_KEY_FIELDS = "stream.num.map.output.key.fields";
  static final int MAP_KEY_FIELDS_TAKEN = 1;

  /**
   * Fields of a line of combiner and reduce filter that are its key (default: 1); a line with fewer separators is
   * all key.
   */
  static final String REDUCE_KEY_FIELDS = "stream.num.reduce.output.key.fields";
  static final int REDUCE_KEY_FIELDS_TAKEN = 1;

  /** What ends a field in the map filter's lines (default: a tab). */
  static final String MAP_OUTPUT_SEPARATOR = "stream.map.output.field.separator";
  static final List<String> MAP_OUTPUT_SEPARATOR_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "\t"));

  /** What ends a field in the lines of combiner and reduce filter (default: a tab). */
  static final String REDUCE_OUTPUT_SEPARATOR = "stream.reduce.output.field.separator";
  static final List<String> REDUCE_OUTPUT_SEPARATOR_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "\t"));

  /**
   * What stands between key and value of what the map filter reads, where it reads keys (stream.map.input.ignoreKey)
   * (default: a tab).
   */
  static final String MAP_INPUT_SEPARATOR = "stream.map.input.field.separator";
  static final List<String> MAP_INPUT_SEPARATOR_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "\t"));

  /** What stands between key and value of what combiner and reduce filter read (default: a tab). */
  static final String REDUCE_INPUT_SEPARATOR = "stream.reduce.input.field.separator";
  static final List<String> REDUCE_INPUT_SEPARATOR_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "\t"));

  /** What stands between key and value in part files (default: a tab). */
  static final String TEXT_OUTPUT_SEPARATOR = "mapreduce.output.textoutputformat.separator";
  static final List<String> TEXT_OUTPUT_SEPARATOR_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "\t"));

  /**
   * Whether the map filter sees the record alone, without its key (default: true with TextInputFormat, whose keys
   * are the offsets of lines, false with another -inputformat).
   */
  static final String IGNORE_KEY = "stream.map.input.ignoreKey";
  static final boolean IGNORE_KEY_TAKEN = true;

  /** What feeds and reads the map filter. */
  static final String MAP_INPUT_WRITER = "stream.map.input.writer.class";
  static final List<String> MAP_INPUT_WRITER_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.streaming.io.TextInputWriter"));

  /** What feeds and reads the map filter. */
  static final String MAP_OUTPUT_READER = "stream.map.output.reader.class";
  static final List<String> MAP_OUTPUT_READER_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.streaming.io.TextOutputReader"));

  /** What feeds and reads the reduce filter and the combiner. */
  static final String REDUCE_INPUT_WRITER = "stream.reduce.input.writer.class";
  static final List<String> REDUCE_INPUT_WRITER_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.streaming.io.TextInputWriter"));

  /** What feeds and reads the reduce filter and the combiner. */
  static final String REDUCE_OUTPUT_READER = "stream.reduce.output.reader.class";
  static final List<String> REDUCE_OUTPUT_READER_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.streaming.io.TextOutputReader"));

  /** The map filter's command. */
  static final String MAP_COMMAND = "stream.map.streamprocessor";

  /** The combiner's command. */
  static final String COMBINE_COMMAND = "stream.combine.streamprocessor";

  /** What runs the map of an attempt. */
  static final String MAP_RUNNER = "mapred.map.runner.class";

  /** What takes the pairs of a map, by rank. */
  static final String COLLECTOR = "mapreduce.job.map.output.collector.class";

  /** Which reducer a key goes to. */
  static final String PARTITIONER = "mapreduce.job.partitioner.class";
  static final List<String> PARTITIONER_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.mapred.lib.HashPartitioner"));

  /** How keys are sorted. */
  static final String KEY_COMPARATOR = "mapreduce.job.output.key.comparator.class";

  /** Which keys are one group for the combiner. */
  static final String COMBINER_COMPARATOR = "mapreduce.job.combiner.group.comparator.class";

  /** How a map's pairs are sorted in memory. */
  static final String MAP_SORT = "map.sort.class";
  static final List<String> MAP_SORT_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.util.QuickSort"));

  /** The same, under the name that Hadoop's documentation has. */
  static final String MAP_SORT_AS_DOCUMENTED = "mapreduce.map.sort.class";
  static final List<String> MAP_SORT_AS_DOCUMENTED_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.util.QuickSort"));

  /** Whether map output is encrypted. */
  static final String ENCRYPTED = "mapreduce.job.encrypted-intermediate-data";
  static final boolean ENCRYPTED_TAKEN = false;

  /** The codec of map output, where it is compressed. */
  static final String MAP_OUTPUT_CODEC = "mapreduce.map.output.compress.codec";
  static final String MAP_OUTPUT_CODEC_DEFAULT = "org.apache.hadoop.io.compress.DefaultCodec";
  static final List<String> MAP_OUTPUT_CODEC_TAKEN = Collections.unmodifiableList(Arrays.asList(
      "org.apache.hadoop.io.compress.DefaultCodec", "org.apache.hadoop.io.compress.GzipCodec"));

  /** Id of the attempt. */
  static final String ATTEMPT_ID = "mapreduce.task.attempt.id";

  /** Jars of the class path, which are no filter's files. */
  static final String CLASSPATH_FILES = "mapreduce.job.classpath.files";

  /** Files that Hadoop localized for the job. */
  static final String CACHE_FILES = "mapreduce.job.cache.files";

  /** Archives that Hadoop localized for the job. */
  static final String CACHE_ARCHIVES = "mapreduce.job.cache.archives";

  /** Everything that starts so is told to the driver. */
  static final String PREFIX = "heterodoop.";

  /** What else the driver is told of the job, under its present name. */
  static final List<String> TOLD = Collections.unmodifiableList(Arrays.asList(
      MAX_LENGTH,
      SORT_MB,
      NON_ZERO_EXIT_IS_FAILURE,
      REPORTER_PREFIX));

  private Settings() {
  }
}
