package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapRunnable;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.streaming.PipeMapRunner;
import org.apache.hadoop.util.ReflectionUtils;

/** Lets the driver run the map task, on a GPU or as a host kernel, or runs streaming's own runner with the filter. */
public final class HeteroMapRunner<K1, V1, K2, V2> implements MapRunnable<K1, V1, K2, V2> {
  private JobConf job;

  @Override
  public void configure(JobConf job) {
    this.job = job;
    InputFormats.tellStreaming(job);
  }

  @Override
  public void run(RecordReader<K1, V1> input, OutputCollector<K2, V2> output, Reporter reporter) throws IOException {
    MapAttempt attempt = MapAttempt.of(job);
    if (attempt != null && attempt.atDriver() && attempt.runAtDriver(reporter)) {
      return;
    }
    HeteroCounters.count(reporter, HeteroCounters.CPU_MAPS, 1);
    if (attempt != null) {
      attempt.cpuStarted();
    }
    GroupReader records = attempt == null ? null : attempt.records();
    if (records == null || records.parts() == 1) {
      filter(input, output, reporter);
    } else {
      filters(records, attempt, input, output, reporter);
    }
    if (attempt != null) {
      attempt.cpuSucceeded(reporter);
    }
  }
  @SuppressWarnings("unchecked")
  private void filter(RecordReader<K1, V1> input, OutputCollector<K2, V2> output, Reporter reporter) throws IOException {
    // Made only now, since it starts the filter: PipeMapper.configure does.
    MapRunnable<K1, V1, K2, V2> streaming = ReflectionUtils.newInstance(PipeMapRunner.class, job);
    streaming.run(input, output, reporter);
  }

  /** Each part has a filter process of its own, which sees what it would see in an attempt of its own. */
  private void filters(GroupReader records, MapAttempt attempt, RecordReader<K1, V1> input, OutputCollector<K2, V2> output,
      Reporter reporter) throws IOException {
    for (int i = 0; i < records.parts(); i++) {
      FileSplit part = records.begin(i);
      job.set(MRJobConfig.MAP_INPUT_FILE, part.getPath().toString());  // as MapTask does it
      job.setLong(MRJobConfig.MAP_INPUT_START, part.getStart());
      job.setLong(MRJobConfig.MAP_INPUT_PATH, part.getLength());
      try {
        filter(input, output, reporter);
      } catch (IOException | RuntimeException e) {
        attempt.log("failed in the split " + part);  // submit looks for such lines
        throw e;
      }
    }
  }
}
