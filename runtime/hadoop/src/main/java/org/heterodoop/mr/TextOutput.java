package org.heterodoop.mr;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordWriter;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.ReflectionUtils;

/** The output file of a map attempt without reducers: raw text that the driver made, or the records of the filter. */
final class TextOutput<K, V> implements RecordWriter<K, V>, ResultTarget {
  private final MapAttempt attempt;
  private final HeteroOutputFormat.RecordWriters<K, V> text;
  private final JobConf job;
  private final String name;
  private final Progressable progress;
  private RecordWriter<K, V> records;
  private OutputStream raw;

  TextOutput(MapAttempt attempt, HeteroOutputFormat.RecordWriters<K, V> text, JobConf job, String name,
      Progressable progress) throws IOException {
    this.attempt = attempt;
    this.text = text;
    this.job = job;
    this.name = name;
    this.progress = progress;
    if (attempt.atDriver()) {
      attempt.setTarget(this);
    } else {
      records();
    }
  }

  private RecordWriter<K, V> records() throws IOException {
    if (records == null) {
      records = text.open();
    }
    return records;
  }

  @Override
  public void write(K key, V value) throws IOException {
    records().write(key, value);
  }

  /** The stream stays open: Hadoop closes the writer when the attempt has succeeded. */
  @Override
  public void receive(MapResult result, Connection driver, Reporter reporter) throws IOException {
    CompressionCodec codec = FileOutputFormat.getCompressOutput(job)
        ? ReflectionUtils.newInstance(FileOutputFormat.getOutputCompressorClass(job, GzipCodec.class), job) : null;
    Path path = FileOutputFormat.getTaskOutputPath(job, codec == null ? name : name + codec.getDefaultExtension());
    FileSystem fs = path.getFileSystem(job);
    long before = bytesWritten(fs);
    OutputStream file = fs.create(path, progress);
    OutputStream out = file;
    try {
      out = codec == null ? file : codec.createOutputStream(file);
      OutputStream sink = out;
      DataFrames.receive(driver, result.dataBytes, (bytes, n) -> {
        sink.write(bytes, 0, n);
        reporter.progress();
      });
      // Hadoop counts, by the same statistics, what is written during its own calls of write and close only.
      reporter.incrCounter(FileOutputFormatCounter.BYTES_WRITTEN, bytesWritten(fs) - before);
      raw = out;
    } catch (IOException | RuntimeException e) {
      remove(fs, path, out, e);
      throw e;
    }
  }

  private static long bytesWritten(FileSystem fs) {
    long bytes = 0;
    for (FileSystem.Statistics statistics : FileSystem.getAllStatistics()) {
      if (statistics.getScheme().equals(fs.getScheme())) {
        bytes += statistics.getThreadStatistics().getBytesWritten();
      }
    }
    return bytes;
  }

  private static void remove(FileSystem fs, Path path, OutputStream out, Exception reason) throws LeftoverException {
    try {
      out.close();
    } catch (IOException e) {
      reason.addSuppressed(e);  // it is deleted in any case
    }
    try {
      if (!fs.delete(path, false) && fs.exists(path)) {
        throw new IOException("it is still there");
      }
    } catch (IOException e) {
      e.addSuppressed(reason);
      throw new LeftoverException("cannot remove the bad output " + path, e);
    }
  }

  @Override
  public void close(Reporter reporter) throws IOException {
    try {
      if (raw != null) {
        raw.close();
      } else {
        records().close(reporter);
      }
      if (attempt.succeeded()) {
        attempt.finished();
      }
    } finally {
      attempt.close();
    }
  }
}
