package org.heterodoop.mr;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SkipBadRecords;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.hadoop.mapred.TextOutputFormat;
import org.apache.hadoop.streaming.PipeCombiner;
import org.apache.hadoop.streaming.PipeMapper;

/**
 * Why an attempt runs on the CPU without asking the driver: the job uses a part of Hadoop that a GPU task does not have.
 *
 * <p>Each reason has a counter DECLINED_..., and docs/hadoop-plugin.md a line. What only the driver can know (its queue,
 * the bundle's kernels) it says in its answer.
 */
final class Decline {
  /** The end of the counter's name, and a sentence for the task's status. */
  final String counter;
  final String reason;

  Decline(String counter, String reason) {
    this.counter = counter;
    this.reason = reason;
  }

  /** The first reason against a GPU, or null. */
  static Decline find(InputSplit split, JobConf job) {
    Decline found = plugIn(job);
    if (found == null) {
      found = input(split, job);
    }
    if (found == null) {
      found = command(job);
    }
    if (found == null) {
      found = job.getNumReduceTasks() == 0 ? textOutput(job) : shuffle(job);
    }
    return found;
  }

  /** Has an earlier attempt failed? Then this one goes to the CPU in case that it was the GPU's fault. */
  static boolean retry(JobConf job, Reporter reporter) {
    return !job.getBoolean(Settings.GPU_RETRY, Settings.GPU_RETRY_DEFAULT) && EarlierAttempts.failed(job, reporter);
  }

  static Decline retryReason() {
    return new Decline("RETRY", "an earlier attempt of this task failed");
  }

  private static Decline plugIn(JobConf job) {
    if (!job.get(Settings.MAP_RUNNER, "").equals(HeteroMapRunner.class.getName())) {
      return new Decline("RUNNER", Settings.MAP_RUNNER + " is not HeteroMapRunner");
    }
    if (job.get(Settings.BUNDLE, "").isEmpty() || !job.get(Settings.BUNDLE_SHA256, "").matches("[0-9a-f]{64}")) {
      return new Decline("BUNDLE", Settings.BUNDLE + " or " + Settings.BUNDLE_SHA256 + " is not set");
    }
    return null;
  }

  private static Decline input(InputSplit split, JobConf job) {
    if (!(split instanceof FileSplit)) {
      return new Decline("SPLIT", "the split is a " + split.getClass().getName() + " and not a part of one file");
    }
    if (InputFormats.of(job) != TextInputFormat.class) {
      return new Decline("INPUT_FORMAT", "the input format is not TextInputFormat");
    }
    CompressionCodecFactory codecs = new CompressionCodecFactory(job);
    for (FileSplit part : GroupedSplit.parts((FileSplit) split)) {
      if (codecs.getCodec(part.getPath()) != null) {
        return new Decline("COMPRESSED", "the input is compressed");
      }
    }
    if (!job.getBoolean(Settings.IGNORE_KEY, Settings.IGNORE_KEY_TAKEN)) {
      return new Decline("INPUT_KEY", "stream.map.input.ignoreKey is not true: filters get offsets");
    }
    if (SkipBadRecords.getMapperMaxSkipRecords(job) > 0) {
      return new Decline("SKIP", "bad records are skipped (mapreduce.map.skip.maxrecords)");
    }
    if (job.get(Settings.RECORD_DELIMITER, "").getBytes(StandardCharsets.UTF_8).length > 1) {
      // Hadoop's reader loses or doubles records where a split's end or a buffer's lies within one: so must this job's.
      return new Decline("DELIMITER", "records end at several bytes (textinputformat.record.delimiter)");
    }
    return null;
  }

  /** The GPU runs the bundle; the job must say the same for the CPU. */
  private static Decline command(JobConf job) {
    String bundle = job.get(Settings.BUNDLE);
    if (!PipeMapper.class.getName().equals(job.getMapperClass().getName())
        || !runs(job, Settings.MAP_COMMAND, bundle + "/bin/map")) {
      return new Decline("COMMAND", "the map command is not " + bundle + "/bin/map");
    }
    if (!job.getMapOutputKeyClass().equals(Text.class) || !job.getMapOutputValueClass().equals(Text.class)
        || !takes(job, Settings.MAP_INPUT_WRITER, Settings.MAP_INPUT_WRITER_TAKEN)
        || !takes(job, Settings.MAP_OUTPUT_READER, Settings.MAP_OUTPUT_READER_TAKEN)) {
      return new Decline("TYPES", "the filter's input or output is not text");
    }
    if (job.getInt(Settings.MAP_KEY_FIELDS, Settings.MAP_KEY_FIELDS_TAKEN) != Settings.MAP_KEY_FIELDS_TAKEN
        || !takes(job, Settings.MAP_INPUT_SEPARATOR, Settings.MAP_INPUT_SEPARATOR_TAKEN)
        || !takes(job, Settings.MAP_OUTPUT_SEPARATOR, Settings.MAP_OUTPUT_SEPARATOR_TAKEN)) {
      return new Decline("FIELDS", "the key of the map output does not end at the first tab");
    }
    return combiner(job, bundle);
  }

  private static Decline combiner(JobConf job, String bundle) {
    if (job.getCombinerClass() == null) {
      return null;
    }
    if (job.getCombinerClass() != PipeCombiner.class
        || !runs(job, Settings.COMBINE_COMMAND, bundle + "/bin/combine")) {
      return new Decline("COMBINER", "the combiner is not " + bundle + "/bin/combine");
    }
    if (job.getInt(Settings.REDUCE_KEY_FIELDS, Settings.REDUCE_KEY_FIELDS_TAKEN) != Settings.REDUCE_KEY_FIELDS_TAKEN
        || !takes(job, Settings.REDUCE_INPUT_SEPARATOR, Settings.REDUCE_INPUT_SEPARATOR_TAKEN)
        || !takes(job, Settings.REDUCE_OUTPUT_SEPARATOR, Settings.REDUCE_OUTPUT_SEPARATOR_TAKEN)
        || !takes(job, Settings.REDUCE_INPUT_WRITER, Settings.REDUCE_INPUT_WRITER_TAKEN)
        || !takes(job, Settings.REDUCE_OUTPUT_READER, Settings.REDUCE_OUTPUT_READER_TAKEN)) {
      return new Decline("FIELDS", "the combiner's keys do not end at the first tab");
    }
    return null;
  }

  private static boolean runs(JobConf job, String setting, String command) {
    try {
      String text = URLDecoder.decode(job.get(setting, ""), "UTF-8").trim();
      return text.equals(command) || text.equals("./" + command);
    } catch (UnsupportedEncodingException | IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean takes(JobConf job, String setting, List<String> taken) {
    String value = job.get(setting);
    return value == null || taken.contains(value);
  }

  private static Decline textOutput(JobConf job) {
    if (!(job.getOutputFormat() instanceof HeteroOutputFormat)) {
      return new Decline("OUTPUT_FORMAT", "without reducers -outputformat must be " + HeteroOutputFormat.class.getName());
    }
    if (!takes(job, Settings.TEXT_OUTPUT_SEPARATOR, Settings.TEXT_OUTPUT_SEPARATOR_TAKEN)) {
      return new Decline("OUTPUT_FORMAT", TextOutputFormat.class.getSimpleName() + "'s separator is not a tab");
    }
    return null;
  }

  private static Decline shuffle(JobConf job) {
    String collectors = job.get(Settings.COLLECTOR, "");
    if (!collectors.split(",")[0].trim().equals(HeteroCollector.class.getName())) {
      return new Decline("COLLECTOR", Settings.COLLECTOR + " does not begin with HeteroCollector");
    }
    if (job.getNumReduceTasks() > 1 && !Settings.PARTITIONER_TAKEN.contains(job.getPartitionerClass().getName())) {
      return new Decline("PARTITIONER", "the partitioner is " + job.getPartitionerClass().getName());
    }
    if (job.get(Settings.KEY_COMPARATOR) != null || job.get(Settings.COMBINER_COMPARATOR) != null) {
      return new Decline("COMPARATOR", "keys have a comparator of their own");
    }
    if (!takes(job, Settings.MAP_SORT, Settings.MAP_SORT_TAKEN)
        || !takes(job, Settings.MAP_SORT_AS_DOCUMENTED, Settings.MAP_SORT_AS_DOCUMENTED_TAKEN)) {
      return new Decline("SORT", "map.sort.class is not QuickSort");
    }
    if (job.getBoolean(Settings.ENCRYPTED, Settings.ENCRYPTED_TAKEN)) {
      return new Decline("ENCRYPTED", "map output is encrypted (" + Settings.ENCRYPTED + ")");
    }
    String codec = codec(job);
    if (!codec.isEmpty() && !Settings.MAP_OUTPUT_CODEC_TAKEN.contains(codec)) {
      return new Decline("CODEC", "map output is compressed with " + codec);
    }
    return null;
  }

  /** Class name of the map output's codec, "" where it is not compressed. */
  static String codec(JobConf job) {
    boolean compressed = job.getNumReduceTasks() > 0 && job.getCompressMapOutput();
    return compressed ? job.get(Settings.MAP_OUTPUT_CODEC, Settings.MAP_OUTPUT_CODEC_DEFAULT) : "";
  }
}
