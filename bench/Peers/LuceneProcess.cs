using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Peers;

/// <summary>
/// Lucene 8 in a Java process of its own (<c>Peers/Lucene/LuceneServer.java</c>, run from its source). It is asked over pipes and
/// takes its times itself. Where Java or the library is missing, rows of it are left out: <see cref="Absence"/> says what is.
/// </summary>
internal sealed class LuceneProcess : IDisposable
{
    private const string Jars = "/usr/share/java";

    private readonly Process _process;
    private readonly StringBuilder _complaints = new();

    /// <summary>Starts it.</summary>
    /// <param name="heap">Most heap, as Java spells it.</param>
    public LuceneProcess(string heap = "1g")
    {
        string[] arguments = [$"-Xmx{heap}", "-cp", Libraries, Source];
        _process = Process.Start(
            new ProcessStartInfo("java", arguments)
            {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
                RedirectStandardError = true
            })
            ?? throw new InvalidOperationException("Could not start java.");
        _process.ErrorDataReceived += (_, line) =>
        {
            lock (_complaints)
                _complaints.AppendLine(line.Data);
        };
        _process.BeginErrorReadLine();
    }

    /// <summary>What is missing on this machine; null: nothing.</summary>
    public static string? Absence
    {
        get
        {
            if (Jar("core") is null || Jar("analyzers-common") is null)
                return $"no lucene-core-8*.jar and lucene-analyzers-common-8*.jar in {Jars} (Debian: liblucene8-java)";

            bool hasJava = (Environment.GetEnvironmentVariable("PATH") ?? "")
                .Split(Path.PathSeparator)
                .Any(folder => File.Exists(Path.Combine(folder, "java")));
            return hasJava ? null : "no java in the PATH (Debian: default-jdk-headless)";
        }
    }

    /// <summary>The library's version, from the name of its file.</summary>
    public static string Version =>
        Jar("core") is { } jar
            ? Path.GetFileNameWithoutExtension(jar)[(Path.GetFileNameWithoutExtension(jar).LastIndexOf('-') + 1)..]
            : "";

    private static string Source => Path.Combine(Corpus.RepositoryRoot, "bench", "Peers", "Lucene", "LuceneServer.java");

    private static string Libraries => $"{Jar("core")}:{Jar("analyzers-common")}";

    /// <summary>Compiles it into a folder, for <see cref="First"/>; false where there is no compiler.</summary>
    public static bool TryCompile(string folder)
    {
        try
        {
            using Process compiler = Process.Start("javac", ["-d", folder, "-cp", Libraries, Source]);
            compiler.WaitForExit();
            return compiler.ExitCode == 0;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return false;
        }
    }

    /// <summary>Milliseconds from the start of a process to its first answer.</summary>
    /// <param name="classes">What <see cref="TryCompile"/> made.</param>
    /// <param name="index">Folder of the index.</param>
    /// <param name="question">The question.</param>
    public static double First(string classes, string index, string question)
    {
        long began = Stopwatch.GetTimestamp();
        var start = new ProcessStartInfo("java", ["-cp", $"{Libraries}:{classes}", "LuceneServer"])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("Could not start java.");
        process.StandardInput.WriteLine($"cold\t{index}\t{question}");
        process.StandardInput.Flush();
        _ = process.StandardOutput.ReadLine() ?? throw new InvalidOperationException("The process of Lucene gave no answer.");
        double elapsed = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        process.StandardInput.Close();
        process.WaitForExit();
        return elapsed;
    }

    /// <summary>Sends a command; gives the figures of its answer.</summary>
    public double[] Ask(params object[] command)
    {
        Send(command);
        return [.. Read().Split('\t').Select(figure => double.Parse(figure, CultureInfo.InvariantCulture))];
    }

    /// <summary>Sends a command; the answer is read by <see cref="Read"/>.</summary>
    public void Send(params object[] command)
    {
        _process.StandardInput.WriteLine(
            string.Join('\t', command.Select(part => Convert.ToString(part, CultureInfo.InvariantCulture))));
        _process.StandardInput.Flush();
    }

    /// <summary>Sends several lines at once.</summary>
    public void Send(IEnumerable<string> lines)
    {
        foreach (string line in lines)
            _process.StandardInput.WriteLine(line);
        _process.StandardInput.Flush();
    }

    /// <summary>A line of an answer.</summary>
    public string Read()
    {
        string? line = _process.StandardOutput.ReadLine();
        if (line is not null)
            return line;

        _process.WaitForExit();
        lock (_complaints)
            throw new InvalidOperationException($"The process of Lucene has ended: {_complaints}");
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.StandardInput.Close();
            if (!_process.WaitForExit(10_000))
                _process.Kill();
        }

        _process.Dispose();
    }

    private static string? Jar(string part) =>
        Directory.Exists(Jars)
            ? Directory.EnumerateFiles(Jars, $"lucene-{part}-8*.jar").Order(StringComparer.Ordinal).LastOrDefault()
            : null;
}
