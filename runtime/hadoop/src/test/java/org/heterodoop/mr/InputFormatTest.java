package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The job's own input format behind ours: the filters read what streaming gives them, in splits as the job wishes. */
class InputFormatTest {
  private static final String LINES = "k1\tv1\nk2\tv2\nno tab\n";

  @TempDir
  Path folder;

  /** Words in the output of a job: keys that were lost are missing there. Short names are those of -inputformat. */
  @ParameterizedTest
  @CsvSource({"TextInputFormat,0", "KeyValueTextInputFormat,0", "org.apache.hadoop.mapred.KeyValueTextInputFormat,0",
      "org.apache.hadoop.mapred.lib.NLineInputFormat,3", "org.apache.hadoop.mapred.lib.CombineTextInputFormat,3"})
  void theFilterGetsTheKeysThatStreamingGives(String format, int offsets) throws Exception {
    Map<String, String> output = new LocalJob(folder).reducers(1).set(Settings.INPUT_FORMAT, format).run(LINES).output;
    String words = "k1\t1\nk2\t1\nno\t1\ntab\t1\nv1\t1\nv2\t1\n";
    assertEquals(offsets == 0 ? words : "0\t1\n12\t1\n6\t1\n" + words, output.get("part-00000"));
  }

  @Test
  void aJobMayAskForTheOffsetsOfLines() throws Exception {
    LocalJob.Outcome found = new LocalJob(folder).reducers(1).set(Settings.IGNORE_KEY, "false").run("a\n");
    assertEquals("0\t1\na\t1\n", found.output.get("part-00000"));
    assertEquals(1, found.hetero("DECLINED_INPUT_KEY"));
  }

  @Test
  void aFormatThatIsNotThereIsNamed() throws Exception {
    JobConf job = new LocalJob(folder).set(Settings.INPUT_FORMAT, "NoSuchFormat").conf(folder, folder.resolve("out"));
    String message = assertThrows(IllegalArgumentException.class, () -> InputFormats.of(job)).getMessage();
    assertEquals("heterodoop.inputformat names no class: NoSuchFormat", message);
  }

  @ParameterizedTest
  @CsvSource({",1,1", "1000,1,10", "3000,1,4", "1000,5000,2", "1000000000000,1,1"})
  void theLargestSplitIsAsTheJobSays(String most, String least, int splits) throws IOException {
    Path input = Files.write(folder.resolve("ten thousand bytes"), new byte[10_000]);
    LocalJob job = new LocalJob(folder).set("mapreduce.job.maps", "1").set("fs.local.block.size", "1000000")
        .set("fs.file.impl.disable.cache", "true")
        .set("mapreduce.input.fileinputformat.split.minsize", least);
    if (most != null) {
      job.set(Settings.MAX_SPLIT, most);
    }
    JobConf conf = job.conf(input, folder.resolve("out"));
    InputSplit[] found = conf.getInputFormat().getSplits(conf, 1);
    long bytes = 0;
    for (InputSplit split : found) {
      bytes += split.getLength();
    }
    assertEquals(splits, found.length);
    assertEquals(10_000, bytes);
  }
}
