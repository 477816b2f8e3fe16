package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.lib.CombineFileSplit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each part of Hadoop that a GPU task does not have sends the attempt to the CPU, with a counter of its own. */
class DeclineTest {
  @TempDir
  static Path folder;

  private static JobConf job(int reducers) throws IOException {
    return new LocalJob(folder).reducers(reducers).conf(folder.resolve("in"), folder.resolve("out"));
  }

  private static InputSplit split(String name) {
    return new FileSplit(new org.apache.hadoop.fs.Path("/in/" + name), 0, 10, new String[0]);
  }

  @Test
  void whatSubmitMakesIsNotDeclined() throws IOException {
    for (int reducers : new int[] {0, 1, 3}) {
      assertNull(Decline.find(split("a.txt"), job(reducers)));
    }
    JobConf job = job(3);
    job.set("stream.map.streamprocessor", ".%2Fwc.hdp%2Fbin%2Fmap");
    job.set("mapreduce.map.output.compress", "true");
    assertNull(Decline.find(split("a.txt"), job));
    job.set("mapreduce.job.output.group.comparator.class", "x.Y");  // the reducer's matter
    assertNull(Decline.find(split("a.txt"), job));
    JobConf one = job(1);
    one.set("mapred.partitioner.class", "org.apache.hadoop.mapred.lib.TotalOrderPartitioner");  // never called
    one.set(Settings.INPUT_FORMAT, "TextInputFormat");
    assertNull(Decline.find(split("a.txt"), one));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, value = {
    "RUNNER | mapred.map.runner.class | org.apache.hadoop.mapred.MapRunner",
    "BUNDLE | heterodoop.bundle.sha256 | xyz",
    "INPUT_FORMAT | heterodoop.inputformat | org.apache.hadoop.mapred.KeyValueTextInputFormat",
    "INPUT_FORMAT | heterodoop.inputformat | KeyValueTextInputFormat",
    "INPUT_FORMAT | heterodoop.inputformat | StreamInputFormat",
    "INPUT_KEY | stream.map.input.ignoreKey | false",
    "SKIP | mapreduce.map.skip.maxrecords | 1",
    "DELIMITER | textinputformat.record.delimiter | ab",
    "DELIMITER | textinputformat.record.delimiter | é",
    "COMMAND | stream.map.streamprocessor | cat",
    "COMMAND | stream.map.streamprocessor | %",
    "TYPES | mapreduce.map.output.key.class | org.apache.hadoop.io.LongWritable",
    "TYPES | stream.map.output.reader.class | org.apache.hadoop.streaming.io.RawBytesOutputReader",
    "FIELDS | stream.num.map.output.key.fields | 2",
    "FIELDS | stream.map.output.field.separator | ,",
    "COMBINER | stream.combine.streamprocessor | cat",
    "COMBINER | mapred.combiner.class | org.apache.hadoop.mapred.lib.IdentityReducer",
    "FIELDS | stream.num.reduce.output.key.fields | 2",
    "COLLECTOR | mapreduce.job.map.output.collector.class | org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
    "PARTITIONER | mapred.partitioner.class | org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner",
    "COMPARATOR | mapreduce.job.output.key.comparator.class | org.apache.hadoop.mapred.lib.KeyFieldBasedComparator",
    "COMPARATOR | mapreduce.job.combiner.group.comparator.class | x.Y",
    "SORT | map.sort.class | org.apache.hadoop.util.HeapSort",
    "ENCRYPTED | mapreduce.job.encrypted-intermediate-data | true",
    "CODEC | mapreduce.map.output.compress.codec | org.apache.hadoop.io.compress.BZip2Codec",
  })
  void oneSettingIsOneReason(String counter, String name, String value) throws IOException {
    JobConf job = job(3);
    job.set("mapreduce.map.output.compress", "true");
    job.set(name, value);
    assertEquals(counter, Decline.find(split("a.txt"), job).counter);
  }

  @ParameterizedTest
  @CsvSource({"OUTPUT_FORMAT,mapred.output.format.class,org.apache.hadoop.mapred.TextOutputFormat",
      "OUTPUT_FORMAT,mapreduce.output.textoutputformat.separator,:"})
  void jobsWithoutReducers(String counter, String name, String value) throws IOException {
    JobConf job = job(0);
    job.set(name, value);
    assertEquals(counter, Decline.find(split("a.txt"), job).counter);
  }

  @Test
  void splits() throws IOException {
    assertEquals("COMPRESSED", Decline.find(split("a.gz"), job(1)).counter);
    assertEquals("SPLIT", Decline.find(new CombineFileSplit(), job(1)).counter);
  }
}
