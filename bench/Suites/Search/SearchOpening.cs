using System.Diagnostics;
using System.Globalization;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// Opens an index and asks it one question: in a process that has just begun, and in one whose code is compiled, with the index's
/// files in memory or not.
/// </summary>
internal static class SearchOpening
{
    /// <summary>
    /// First argument of the process that asks once: then the folder and the question's line of the file of questions.
    /// </summary>
    public const string FirstVerb = "search-first";

    /// <summary>
    /// First argument of the process that opens again and again: then the folder, a file of questions and rounds.
    /// </summary>
    public const string Verb = "search-open";

    /// <summary>Milliseconds from the start of a process to its first answer.</summary>
    public static double First(string folder, SearchQuestion question)
    {
        long began = Stopwatch.GetTimestamp();
        var start = new ProcessStartInfo(
            "dotnet",
            [typeof(SearchOpening).Assembly.Location, FirstVerb, folder, SearchProcess.Format(question)])
        {
            RedirectStandardOutput = true
        };
        using Process process = Process.Start(start) ?? throw new InvalidOperationException("Could not start a process.");
        _ = process.StandardOutput.ReadLine()
            ?? throw new InvalidOperationException("The process that asks one question said nothing.");
        double elapsed = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        process.WaitForExit();
        return elapsed;
    }

    /// <summary>What the process of <see cref="FirstVerb"/> does.</summary>
    public static void RunFirst(string folder, string question)
    {
        using var ours = new TreepieVerses(folder);
        Console.WriteLine(ours.Ask(SearchProcess.Parse(question)).Total);
    }

    /// <summary>Milliseconds of opening an index and of the first answer.</summary>
    /// <param name="folder">The index, which nobody has open.</param>
    /// <param name="question">The question.</param>
    /// <param name="isCold">Whether the system is to forget its files before.</param>
    public static (double Open, double Ask) Once(string folder, SearchQuestion question, bool isCold)
    {
        if (isCold)
            PageCache.Drop(folder);
        long began = Stopwatch.GetTimestamp();
        using var opened = new TreepieVerses(folder);
        double open = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        opened.Ask(question);
        return (open, Stopwatch.GetElapsedTime(began).TotalMilliseconds - open);
    }

    /// <summary>What the process of <see cref="Verb"/> does: a line for the first question of each kind.</summary>
    public static void Run(string folder, string file, int rounds)
    {
        foreach (SearchQuestion question in SearchProcess.Read(file).DistinctBy(question => question.Kind))
        {
            foreach (bool isCold in (bool[])[false, true])
            {
                for (int warm = 0; warm < rounds && !isCold; warm++)
                    Once(folder, question, isCold);
                (double Open, double Ask)[] times = [.. Enumerable.Range(0, rounds).Select(_ => Once(folder, question, isCold))];
                Console.WriteLine(string.Create(
                    CultureInfo.InvariantCulture,
                    $"{question.Kind,-16} {(isCold ? "cold" : "warm")}   open "
                        + $"{Statistics.Median(times.Select(time => time.Open)):0.00} ms   first answer "
                        + $"{Statistics.Median(times.Select(time => time.Ask)):0.00} ms   least "
                        + $"{times.Min(time => time.Open + time.Ask):0.00} ms"));
            }
        }
    }
}
