package org.heterodoop.mr;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.util.ReflectionUtils;

/** Puts a ready map output, file.out and file.out.index, where Hadoop's shuffle looks for it. */
final class ShuffleOutput implements ResultTarget {
  /** As MapTask.MapOutputBuffer sets it: the NodeManager's group may read. */
  private static final Set<PosixFilePermission> SHUFFLE_OUTPUT = PosixFilePermissions.fromString("rw-r-----");

  private final JobConf job;
  private final MapOutputFile files;
  private Path data;
  private Path index;

  ShuffleOutput(JobConf job, MapOutputFile files) {
    this.job = job;
    this.files = files;
  }

  @Override
  public void receive(MapResult result, Connection driver, Reporter reporter) throws IOException {
    FileSystem local = FileSystem.getLocal(job).getRaw();
    try {
      int partitions = job.getNumReduceTasks();
      if (result.indexBytes != MapOutputIndex.size(partitions)) {
        throw new ProtocolException("the driver announces an index of " + result.indexBytes + " bytes for " + partitions
            + " partitions");
      }
      byte[] indexBytes = DataFrames.receive(driver, result.indexBytes);
      MapOutputIndex checked = new MapOutputIndex(indexBytes, partitions, result.dataBytes, codec() != null);
      receiveData(local, result.dataBytes, checked, driver, reporter);
      if (job.getBoolean(Settings.VERIFY, Settings.VERIFY_DEFAULT)) {
        new MapOutputVerifier(job, codec(), reporter).verify(local, data, checked);
      }
      writeIndex(local, indexBytes);
    } catch (IOException | RuntimeException e) {
      remove(local, e);
      throw e;
    }
  }

  private void receiveData(FileSystem local, long length, MapOutputIndex checked, Connection driver, Reporter reporter)
      throws IOException {
    data = files.getOutputFileForWrite(length);
    SegmentChecksums checksums = new SegmentChecksums(checked);
    try (OutputStream out = local.create(data, true)) {
      DataFrames.receive(driver, length, (bytes, n) -> {
        checksums.update(bytes, n);
        out.write(bytes, 0, n);
        reporter.progress();
      });
    }
    checksums.finish();
    share(data);
  }

  private void writeIndex(FileSystem local, byte[] bytes) throws IOException {
    index = files.getOutputIndexFileForWrite(bytes.length);
    try (OutputStream out = local.create(index, true)) {
      out.write(bytes);
    }
    share(index);
  }

  /** Not by FileSystem.setPermission, which starts a process for it where Hadoop has no native library. */
  private static void share(Path path) throws IOException {
    Files.setPosixFilePermissions(Paths.get(path.toUri().getPath()), SHUFFLE_OUTPUT);
  }

  private CompressionCodec codec() {
    return job.getCompressMapOutput()
        ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job) : null;
  }

  /** Both, wherever they lie: the CPU path may choose another local folder, and the shuffle takes what it finds first. */
  private void remove(FileSystem local, Exception reason) throws LeftoverException {
    for (Path path : new Path[] {data, index}) {
      try {
        if (path != null && !local.delete(path, false) && local.exists(path)) {
          throw new IOException("it is still there");
        }
      } catch (IOException e) {
        e.addSuppressed(reason);
        throw new LeftoverException("cannot remove the bad map output " + path, e);
      }
    }
  }
}
