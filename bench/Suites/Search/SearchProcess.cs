using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// Does a part of the work of one engine in a process of its own, so that its time and memory can be told from the others'.
/// </summary>
/// <param name="Documents">Documents indexed, or questions answered.</param>
/// <param name="Seconds">How long it took.</param>
/// <param name="CpuSeconds">Processor time of all threads, the compilation of code and collections included, but for the thread
/// that looks at the memory.</param>
/// <param name="HeapMiB">Most managed memory in use.</param>
/// <param name="PrivateMiB">Most resident memory that no file stands behind.</param>
internal sealed record SearchProcess(double Documents, double Seconds, double CpuSeconds, double HeapMiB, double PrivateMiB)
{
    /// <summary>First argument of the process that indexes.</summary>
    public const string IndexVerb = "search-index";

    /// <summary>First argument of the process that asks.</summary>
    public const string AskVerb = "search-ask";

    private const double MiB = 1 << 20;

    /// <summary>Indexes a file into a folder.</summary>
    public static SearchProcess Index(string engine, string folder, string file, int batchSize) =>
        Start([IndexVerb, engine, folder, file, batchSize.ToString(CultureInfo.InvariantCulture)]);

    /// <summary>Asks our index the questions of a file.</summary>
    public static SearchProcess Ask(string folder, string questions, int passes) =>
        Start([AskVerb, folder, questions, passes.ToString(CultureInfo.InvariantCulture)]);

    /// <summary>What the process of <see cref="IndexVerb"/> does.</summary>
    public static void RunIndex(string engine, string folder, string file, int batchSize) => Measure(() =>
    {
        if (engine == "sqlite")
        {
            using var theirs = new SqliteVerses(Path.Combine(folder, "verses.db"));
            return theirs.Load(file, batchSize);
        }

        using var ours = new TreepieVerses(folder);
        return ours.Load(file, batchSize, CancellationToken.None);
    });

    /// <summary>What the process of <see cref="AskVerb"/> does.</summary>
    public static void RunAsk(string folder, string file, int passes)
    {
        using var ours = new TreepieVerses(folder);
        IReadOnlyList<SearchQuestion> questions = Read(file);
        Measure(() =>
        {
            for (int pass = 0; pass < passes; pass++)
                foreach (SearchQuestion question in questions)
                    ours.Ask(question);
            return questions.Count * passes;
        });
    }

    /// <summary>Writes the questions for the process of <see cref="AskVerb"/>.</summary>
    public static void Write(string file, IEnumerable<SearchQuestion> questions) =>
        File.WriteAllLines(file, questions.Select(Format));

    /// <summary>A question as a line.</summary>
    public static string Format(SearchQuestion question) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{question.Kind}\t{question.Form}\t{string.Join(' ', question.Words)}\t{question.Low}\t{question.High}"
                + $"\t{question.Mix?.Suffix}");

    /// <summary>Reads them.</summary>
    public static IReadOnlyList<SearchQuestion> Read(string file) => [.. File.ReadLines(file).Select(Parse)];

    /// <summary>The question of a line.</summary>
    public static SearchQuestion Parse(string line)
    {
        string[] parts = line.Split('\t');
        return new SearchQuestion(
            parts[0], Enum.Parse<SearchForm>(parts[1]), parts[2].Split(' ', StringSplitOptions.RemoveEmptyEntries),
            long.Parse(parts[3], CultureInfo.InvariantCulture), long.Parse(parts[4], CultureInfo.InvariantCulture))
        {
            Mix = SearchMix.Parse(parts[5]),
        };
    }

    private static void Measure(Func<int> work)
    {
        const int SampleMs = 10;
        double heap = 0, memory = 0, looking = 0;
        bool ended = false;
        var sampler = new Thread(() =>
        {
            while (!Volatile.Read(ref ended))
            {
                heap = Math.Max(heap, GC.GetTotalMemory(false) / MiB);
                memory = Math.Max(memory, ProcessCounters.PrivateMiB);
                Thread.Sleep(SampleMs);
            }

            looking = ThreadClock.Microseconds / 1e6;
        });
        sampler.Start();
        double cpu = ProcessCounters.Now.CpuSeconds;
        long began = Stopwatch.GetTimestamp();
        int done = work();
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        double used = ProcessCounters.Now.CpuSeconds - cpu;
        Volatile.Write(ref ended, true);
        sampler.Join();
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{done} {seconds} {used - looking} {heap} {memory}"));
    }

    private static SearchProcess Start(string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet", [typeof(SearchProcess).Assembly.Location, .. arguments])
        {
            RedirectStandardOutput = true
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("Could not start a process.");
        string line = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        if (process.ExitCode != 0)
            throw new InvalidOperationException(
                $"The process '{string.Join(' ', arguments)}' ended with code {process.ExitCode}.");
        double[] parts = [.. line.Split(' ').Select(part => double.Parse(part, CultureInfo.InvariantCulture))];
        return new SearchProcess(parts[0], parts[1], parts[2], parts[3], parts[4]);
    }
}
