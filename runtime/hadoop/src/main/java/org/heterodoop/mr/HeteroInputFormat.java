package org.heterodoop.mr;

import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobConfigurable;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.TextInputFormat;

/**
 * The input format that a job names, with one difference: each map attempt asks the node's driver before its reader opens.
 *
 * <p>Splits and their hosts are those of the real format (heterodoop.inputformat, TextInputFormat by default), but for
 * mapreduce.input.fileinputformat.split.maxsize. An attempt does several of them where the job says so
 * (heterodoop.group.bytes).
 */
public final class HeteroInputFormat<K, V> implements InputFormat<K, V>, JobConfigurable {
  /** Values of heterodoop.group.bytes beside a number. */
  private static final String OFF = "0";
  private static final String AUTO = "auto";

  private InputFormat<K, V> real;

  @Override
  public void configure(JobConf job) {
    real = InputFormats.make(job);
  }

  @Override
  public InputSplit[] getSplits(JobConf job, int wanted) throws IOException {
    InputSplit[] splits = real.getSplits(job, wanted);
    String group = job.get(Settings.GROUP_BYTES, OFF).trim();
    if (splits.length < 2 || group.equals(OFF) || !mayGroup(job)) {
      return splits;
    }
    List<FileSplit> files = new ArrayList<>();
    Map<FileSplit, String[]> hosts = new IdentityHashMap<>();
    for (InputSplit split : splits) {
      files.add((FileSplit) split);  // as TextInputFormat makes them
      hosts.put((FileSplit) split, split.getLocations());
    }
    long most = group.equals(AUTO) ? Grouping.chosen(files, Slots.of(job)) : Long.parseLong(group);
    return Grouping.group(files, hosts, most).toArray(new InputSplit[0]);
  }

  /** Is it the form of input, and of output, in which the attempts of several splits give what theirs give? */
  private static boolean mayGroup(JobConf job) {
    return InputFormats.of(job) == TextInputFormat.class && job.getNumReduceTasks() > 0
        && job.getBoolean(Settings.IGNORE_KEY, Settings.IGNORE_KEY_TAKEN)
        && job.get(Settings.RECORD_DELIMITER, "").isEmpty();
  }

  @Override
  @SuppressWarnings("unchecked")
  public RecordReader<K, V> getRecordReader(InputSplit split, JobConf job, Reporter reporter) throws IOException {
    MapAttempt attempt = MapAttempt.begin(split, job, reporter);
    if (!attempt.atDriver() && !(split instanceof GroupedSplit)) {
      return real.getRecordReader(split, job, reporter);
    }
    // The driver does a task of TextInputFormat alone (Decline), and only its splits are grouped: the records are these.
    GroupReader records = new GroupReader((TextInputFormat) (Object) real, (FileSplit) split, job, reporter);
    attempt.setRecords(records);
    return (RecordReader<K, V>) records;
  }
}
