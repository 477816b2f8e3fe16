// Streaming jobs in one process, by Hadoop's LocalJobRunner: its own map and reduce tasks. tests/keys/test_streaming.py runs it.
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.streaming.StreamJob;
import org.apache.hadoop.util.ToolRunner;

public final class HadoopJobs {
  // Words of streaming's command, "--" behind each job's.
  public static void main(String[] words) throws Exception {
    List<String> job = new ArrayList<>();
    for (String word : words) {
      if (!word.equals("--")) {
        job.add(word);
        continue;
      }
      Configuration conf = new Configuration(false);
      conf.set("mapreduce.framework.name", "local");
      conf.set("fs.defaultFS", "file:///");
      int status = ToolRunner.run(conf, new StreamJob(), job.toArray(new String[0]));
      if (status != 0) System.exit(status);
      job.clear();
    }
  }
}
